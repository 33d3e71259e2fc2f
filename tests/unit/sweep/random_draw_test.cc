// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/random_draw.h"

#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <functional>

namespace gpupool::planning {
namespace {

constexpr int kBins = 20;
constexpr int kDraws = 20'000;
// A fair generator exceeds it once in 1,000 times, with kBins - 1 degrees of freedom.
constexpr double kChiSquare = 43.8;

double chi_square(const std::function<double(int)>& unit_of) {
  std::array<int, kBins> counts{};
  for (int draw = 0; draw < kDraws; ++draw) ++counts.at(static_cast<std::size_t>(unit_of(draw) * kBins));
  constexpr double kExpected = double{kDraws} / kBins;
  double sum = 0;
  for (const int count : counts) sum += (count - kExpected) * (count - kExpected) / kExpected;
  return sum;
}

double number_of(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

TEST(RandomDraw, IsUniform) {
  EXPECT_LT(chi_square([](int i) { return unit_draw(0, static_cast<std::uint64_t>(i), "lr"); }), kChiSquare);
  EXPECT_LT(chi_square([](int i) { return unit_draw(-7, static_cast<std::uint64_t>(i), "x"); }), kChiSquare);
  EXPECT_LT(chi_square([](int seed) { return unit_draw(seed, 3, "lr"); }), kChiSquare) << "over seeds";
}

TEST(RandomDraw, DrawsOfTwoParametersAreIndependent) {
  const auto both = [](int i) {
    const auto draw = static_cast<std::uint64_t>(i);
    const auto sum = unit_draw(1, draw, "a") + unit_draw(1, draw, "b");
    return sum - std::floor(sum);  // uniform if they are
  };
  EXPECT_LT(chi_square(both), kChiSquare);
  const auto next = [](int i) {
    const auto draw = static_cast<std::uint64_t>(i);
    const auto sum = unit_draw(1, draw, "a") + unit_draw(1, draw + 1, "a");
    return sum - std::floor(sum);
  };
  EXPECT_LT(chi_square(next), kChiSquare);
}

TEST(RandomDraw, RealNumbersAreUniformInTheirScale) {
  const auto unit = [](int i) { return unit_draw(5, static_cast<std::uint64_t>(i), "lr"); };
  EXPECT_LT(chi_square([&](int i) {
              return std::min(0.999999, (number_of(uniform_value(unit(i), -3, 5)) + 3) / 8);
            }),
            kChiSquare);
  EXPECT_LT(chi_square([&](int i) {
              return std::min(0.999999,
                              std::log10(number_of(log_uniform_value(unit(i), 1e-5, 1e-1)) / 1e-5) / 4);
            }),
            kChiSquare);
}

TEST(RandomDraw, ValuesAreShort) {
  EXPECT_EQ(uniform_value(0.5, 0, 1), "0.5");
  EXPECT_EQ(uniform_value(1.0 / 3, 0, 1), "0.333333");
  EXPECT_EQ(uniform_value(1.0 / 3, 0, 1000), "333.333") << "a millionth of the range";
  EXPECT_EQ(uniform_value(1.0 / 3, 1000000, 1000001), "1000000.333333");
  EXPECT_EQ(uniform_value(0.25, -1e300, 1e300), "-5e+299");
  EXPECT_EQ(log_uniform_value(0.5, 1e-5, 1e-1), "0.001");
  EXPECT_EQ(log_uniform_value(0.123, 1e-5, 1e-1), "3.10456e-05");
}

TEST(RandomDraw, ValuesStayInTheirRange) {
  EXPECT_EQ(uniform_value(0, 0.12345678, 0.2), "0.12345678") << "rounding does not leave the range";
  EXPECT_EQ(log_uniform_value(0, 1.23456432e-3, 1), "0.00123456432");
  EXPECT_EQ(integer_value(0, -2, 2), -2);
  EXPECT_EQ(integer_value(0.999999, -2, 2), 2);
  EXPECT_EQ(integer_value(0x1.fffffffffffffp-1, -1'000'000'000'000'000, 1'000'000'000'000'000),
            1'000'000'000'000'000);
}

}  // namespace
}  // namespace gpupool::planning
