// SPDX-License-Identifier: Apache-2.0
#include "launcher/clean_text.h"

#include <gtest/gtest.h>

#include <string>

namespace gpupool::launcher {
namespace {

TEST(CleanText, KeepsTextTabsAndNewlines) { EXPECT_EQ(clean_text("a\tb\nü€😀"), "a\tb\nü€😀"); }

TEST(CleanText, DropsTerminalSequencesAndControls) {
  EXPECT_EQ(clean_text("\x1b[1;31merror\x1b[0m: \x07x\x7f"), "error: x");
  EXPECT_EQ(clean_text("\x1b]0;title\x07shown\x1b]8;;u\x1b\\link"), "shownlink");
  EXPECT_EQ(clean_text("cut \x1b["), "cut ");
  EXPECT_EQ(clean_text("cut \x1b"), "cut ");
  EXPECT_EQ(clean_text(std::string_view("nul\0end", 7)), "nulend");
}

TEST(CleanText, ReplacesWhatIsNotUtf8) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(clean_text("a\xff"
                       "b"),
            "a" + bad + "b");
  EXPECT_EQ(clean_text("\xc0\xaf"), bad + bad);                      // overlong
  EXPECT_EQ(clean_text("\xed\xa0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(clean_text("end \xe2\x82"), "end " + bad + bad);         // cut in the middle
}

}  // namespace
}  // namespace gpupool::launcher
