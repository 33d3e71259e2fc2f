// SPDX-License-Identifier: Apache-2.0
#include "screen/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace gpupool {
namespace {

using screen::plot;
using screen::PlotPoint;
using testing::HasSubstr;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(Plot, PointsStandWhereTheirNumbersSay) {
  EXPECT_EQ(plot({{0, 9, true}, {5, 4.5, true}, {10, 0, false}}, {.columns = 14}),
            "9 |*\n"
            "  |\n"
            "  |\n"
            "  |\n"
            "5 |     *\n"
            "  |\n"
            "  |\n"
            "  |\n"
            "  |\n"
            "0 |          .\n"
            "  +-----------\n"
            "   0        10\n");
}

TEST(Plot, IsEmptyWithoutPoints) { EXPECT_EQ(plot({}, {}), ""); }

TEST(Plot, OnePointAndEqualValuesAreOneRow) {
  EXPECT_EQ(lines_of(plot({{3, 7, true}}, {})), 12U);
  EXPECT_THAT(plot({{3, 7, true}, {4, 7, false}}, {}), HasSubstr("7 |*"));
}

// A thousandth apart on a linear axis, all but the greatest would be one row.
TEST(Plot, WideRangesOfPositiveNumbersAreLogarithmic) {
  const auto text = plot({{0, 1e-6, true}, {1, 1e-3, true}, {2, 1, false}}, {});
  EXPECT_THAT(text, HasSubstr("1e-06 |*"));
  EXPECT_EQ(std::ranges::count(text.substr(0, text.find('\n')), '.'), 1);
  const auto with_zero = plot({{0, 0, true}, {1, 1e-3, true}, {2, 1, false}}, {});
  EXPECT_THAT(with_zero, HasSubstr("    0 |*"));
}

TEST(Plot, ExtremeNumbersStayInside) {
  const auto most = std::numeric_limits<double>::max();
  EXPECT_EQ(lines_of(plot({{0, -most, true}, {1, most, false}, {999, 0, false}}, {.columns = 20})), 12U);
  for (const std::size_t columns : {1U, 20U, 500U}) {
    const auto text = plot({{0, 1, true}, {999, 2, false}}, {.columns = columns});
    std::size_t longest = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      longest = std::max(longest, end - at);
      at = end + 1;
    }
    EXPECT_LE(longest, std::max<std::size_t>(std::min<std::size_t>(columns, 100), 17)) << text;
  }
}

TEST(ShortNumber, HasFourDigits) {
  EXPECT_EQ(screen::short_number(0.000123456), "0.0001235");
  EXPECT_EQ(screen::short_number(1234567), "1.235e+06");
  EXPECT_EQ(screen::short_number(17), "17");
}

}  // namespace
}  // namespace gpupool
