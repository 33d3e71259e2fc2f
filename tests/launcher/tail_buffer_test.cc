// SPDX-License-Identifier: Apache-2.0
#include "launcher/tail_buffer.h"

#include <gtest/gtest.h>

#include <string>

namespace gpupool::launcher {
namespace {

TEST(TailBuffer, KeepsLinesOfBothStreamsWhole) {
  TailBuffer tail(100);
  tail.append(0, "first ");
  tail.append(1, "warning\n");
  tail.append(0, "line\nrest");
  EXPECT_EQ(tail.text(), "warning\nfirst line\nrest\n");
}

TEST(TailBuffer, DropsTheOldestWholeLines) {
  TailBuffer tail(20);
  for (int i = 100; i < 200; ++i) tail.append(0, "line " + std::to_string(i) + "\n");
  const std::string text = tail.text();
  EXPECT_LE(text.size(), 40U);
  EXPECT_TRUE(text.starts_with("line ")) << text;
  EXPECT_TRUE(text.ends_with("line 198\nline 199\n")) << text;
}

TEST(TailBuffer, KeepsTheEndOfALineThatNeverEnds) {
  TailBuffer tail(16);
  for (int i = 0; i < 1000; ++i) tail.append(0, "abcdefg");
  tail.append(0, "END");
  EXPECT_LE(tail.text().size(), 33U);
  EXPECT_TRUE(tail.text().ends_with("abcdefgEND\n")) << tail.text();
}

TEST(TailBuffer, KeepsTheEndOfOneHugeChunk) {
  TailBuffer tail(16);
  tail.append(0, std::string(100'000, 'x') + "END\n");
  EXPECT_LE(tail.text().size(), 33U);
  EXPECT_TRUE(tail.text().ends_with("xEND\n")) << tail.text();
}

TEST(TailBuffer, ProgressBarKeepsItsLastState) {
  TailBuffer tail(100);
  tail.append(1, "epoch 0\n 10%\r 50%");
  tail.append(1, "\r");
  tail.append(1, "100%\r");
  EXPECT_EQ(tail.text(), "epoch 0\n100%\n");
  tail.append(1, "\ndone\r\n");
  EXPECT_EQ(tail.text(), "epoch 0\n100%\ndone\n");
}

}  // namespace
}  // namespace gpupool::launcher
