// SPDX-License-Identifier: Apache-2.0
#include "store/frame.h"

#include <gtest/gtest.h>

#include "tests/unit/keeper/chunks.h"

namespace gpupool::keeper {
namespace {

TEST(Frame, IsReadAsItWasWritten) {
  const std::string chunks = test::chunk_of("some text") + test::chunk_of(std::string(100'000, 'x'));
  const std::string frame = make_frame({.begin = 7, .end = 100'016, .last_ns = 5, .lost = 3}, chunks);
  const auto header = read_frame_header(frame);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->begin, 7U);
  EXPECT_EQ(header->end, 100'016U);
  EXPECT_EQ(header->last_ns, 5U);
  EXPECT_EQ(header->lost, 3U);
  EXPECT_EQ(frame.size(), kFrameHeader + header->stored);
  EXPECT_LT(frame.size(), 1000U);
  EXPECT_EQ(read_frame_chunks(*header, frame.substr(kFrameHeader)), chunks);
}

TEST(Frame, AnyChangedBitIsNoticed) {
  const std::string chunks = test::chunk_of(test::noise(60, 1));
  const std::string frame = make_frame({.begin = 0, .end = 60}, chunks);
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    std::string changed = frame;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const auto header = read_frame_header(changed);
    if (!header) continue;
    const auto read = read_frame_chunks(*header, changed.substr(kFrameHeader));
    EXPECT_TRUE(!read || *read == chunks) << bit;
  }
  EXPECT_FALSE(read_frame_header(frame.substr(0, kFrameHeader - 1)));
  EXPECT_FALSE(read_frame_chunks(*read_frame_header(frame), frame.substr(kFrameHeader, 10)));
}

}  // namespace
}  // namespace gpupool::keeper
