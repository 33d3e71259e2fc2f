// SPDX-License-Identifier: Apache-2.0
#include "screen/plain_text.h"

#include <gtest/gtest.h>

namespace gpupool::screen {
namespace {

TEST(PlainText, NothingReachesTheTerminalThatItObeys) {
  const std::pair<std::string, std::string> texts[] = {
      {"resnet-1", "resnet-1"},
      {"Grüße 猫", "Grüße 猫"},
      {"a\x1b[2Jb", "a [2Jb"},
      {"a\tb\r\nc", "a b  c"},
      {"\x7f", " "},
      {"\xc2\x9b"
       "31m",
       " 31m"},  // CSI as one character
      {"\xe2\x80\xae"
       "evil",
       " evil"},              // right-to-left override
      {"\xe2\x80\xa8", " "},  // line separator
      {"\xff", "\xef\xbf\xbd"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // overlong
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // surrogate
      {"x\xe2\x82", "x\xef\xbf\xbd\xef\xbf\xbd"},                // cut
      {std::string("a\0b", 3), "a b"},
  };
  for (const auto& [raw, plain] : texts) EXPECT_EQ(plain_text(raw), plain) << raw;
  EXPECT_EQ(plain_lines("a\x1b[1m\nb"), "a [1m\nb");
}

TEST(PlainText, CutsByCharacters) {
  EXPECT_EQ(width("Grüße"), 5U);
  EXPECT_EQ(cut("Grüße", 5), "Grüße");
  EXPECT_EQ(cut("Grüße", 4), "Grü…");
  EXPECT_EQ(cut("abc", 1), "…");
}

}  // namespace
}  // namespace gpupool::screen
