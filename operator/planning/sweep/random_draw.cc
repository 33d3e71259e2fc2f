// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/random_draw.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/fnv_hash.h"

namespace gpupool::planning {
namespace {

constexpr int kDigits = 6;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Returns the number, rounded to `digits` digits after the point.
double round_to(double value, std::chars_format format, int digits) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
  double rounded = value;
  if (end.ec == std::errc()) std::from_chars(text.data(), end.ptr, rounded);
  return rounded;
}

// The shortest text that is read as the same number.
std::string shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

double unit_draw(std::int64_t seed, std::uint64_t draw, std::string_view parameter) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  base::FnvHash name;
  name.add(parameter);
  auto x = mix(static_cast<std::uint64_t>(seed) + kStep);
  x = mix(x + kStep * (draw + 1));
  x = mix(x ^ name.value());
  return static_cast<double>(x >> 11) * 0x1p-53;
}

std::string uniform_value(double unit, double min, double max) {
  // fma: one rounding on every machine, whether or not its compiler would fuse the two operations.
  const auto value = std::fma(unit, max - min, min);
  const auto decimals = std::max(0, kDigits - static_cast<int>(std::floor(std::log10(max - min))));
  return shortest(std::clamp(round_to(value, std::chars_format::fixed, decimals), min, max));
}

std::string log_uniform_value(double unit, double min, double max) {
  const auto low = std::log(min);
  const auto value = std::exp(std::fma(unit, std::log(max) - low, low));
  return shortest(std::clamp(round_to(value, std::chars_format::scientific, kDigits - 1), min, max));
}

std::int64_t integer_value(double unit, std::int64_t min, std::int64_t max) {
  const auto count = static_cast<double>(max - min) + 1;
  return std::min(max, min + static_cast<std::int64_t>(unit * count));
}

}  // namespace gpupool::planning
