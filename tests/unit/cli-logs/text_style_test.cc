// SPDX-License-Identifier: Apache-2.0
#include "logs/text_style.h"

#include <gtest/gtest.h>

namespace gpupool::logs {
namespace {

LogLine printed(const std::string& text, std::size_t cut = 0) {
  return {.time = {}, .stamp = "2026-11-24T02:00:00.000000001Z", .text = text, .cut = cut, .id = 0};
}

TEST(ShownLine, OneRankIsShownAsItIs) {
  EXPECT_EQ("epoch 1\tloss 2.3\n", shown_line(0, printed("epoch 1\tloss 2.3"), {}));
}

TEST(ShownLine, RanksAreOfOneWidth) {
  const TextStyle style{.ranks = true, .rank_width = 3};
  EXPECT_EQ("  7 | x\n", shown_line(7, printed("x"), style));
  EXPECT_EQ("123 | x\n", shown_line(123, printed("x"), style));
  EXPECT_EQ("1000 | x\n", shown_line(1000, printed("x"), style));
}

TEST(ShownLine, TimesAndCuts) {
  EXPECT_EQ("2026-11-24T02:00:00.000000001Z x...[70 bytes]\n",
            shown_line(0, printed("x", 70), {.timestamps = true}));
}

TEST(ShownLine, WhatATerminalWouldObeyIsDropped) {
  EXPECT_EQ("ab\n", shown_line(0,
                               printed("a\x1b[2J\x1b]0;title\a\x1b[1A\x07\x08"
                                       "b"),
                               {}));
  EXPECT_EQ("a2J\n", shown_line(0,
                                printed("a\xc2\x9b"
                                        "2J"),
                                {}));
  EXPECT_EQ("red\n", shown_line(0, printed("\x1b[31mred\x1b[0m"), {}));
  EXPECT_EQ(
      "a\xef\xbf\xbd"
      "b\n",
      shown_line(0,
                 printed("a\xff"
                         "b"),
                 {}));
}

TEST(ShownLine, ColoursOfTheWorkerEndWithTheLine) {
  const TextStyle style{.colours = true};
  EXPECT_EQ("\x1b[31mred\x1b[0m\n", shown_line(0, printed("\x1b[31mred"), style));
  EXPECT_EQ("ab\n", shown_line(0,
                               printed("a\x1b[2J"
                                       "b"),
                               style));
  EXPECT_EQ("a\n", shown_line(0, printed("a\x1b[?25lm"), style).substr(0, 1) + "\n");
}

TEST(ShownLine, RanksHaveColours) {
  const TextStyle style{.ranks = true, .colours = true};
  EXPECT_EQ("\x1b[36m0 |\x1b[0m x\n", shown_line(0, printed("x"), style));
  EXPECT_EQ(shown_line(1, printed("x"), style).substr(0, 5), shown_line(9, printed("x"), style).substr(0, 5));
}

TEST(ShownLine, RawIsWhatWasPrinted) {
  const TextStyle style{.ranks = true, .colours = true, .raw = true};
  EXPECT_EQ("a\x1b[2J\xff\r\n", shown_line(3, printed("a\x1b[2J\xff\r"), style));
}

TEST(ShownNote, IsCleanAndDim) {
  EXPECT_EQ("-- attempt 1 --\n", shown_note("attempt\x1b[2J 1", {}));
  EXPECT_EQ("\x1b[2m-- attempt 1 --\x1b[0m\n", shown_note("attempt 1", {.colours = true}));
}

}  // namespace
}  // namespace gpupool::logs
