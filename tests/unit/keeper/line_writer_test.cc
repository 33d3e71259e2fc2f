// SPDX-License-Identifier: Apache-2.0
#include "readers/line_writer.h"

#include <gtest/gtest.h>

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;
using push::Stream;

constexpr std::uint64_t kNs = 1'000'000'000;

std::string written(const LineWriter::Options& options, const std::vector<push::Chunk>& chunks) {
  LineWriter writer(options);
  std::string out;
  for (const auto& chunk : chunks) writer.add(chunk, out);
  writer.finish(out);
  return out;
}

TEST(LineWriter, TimesHaveNanoseconds) {
  EXPECT_EQ(rfc3339_nano(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(rfc3339_nano(1'767'323'045 * kNs + 12), "2026-01-02T03:04:05.000000012Z");
}

TEST(LineWriter, LinesOfTwoStreamsDoNotMix) {
  const std::vector<push::Chunk> chunks = {{Stream::kStdout, 1 * kNs, "on"},
                                           {Stream::kStderr, 2 * kNs, "err\nno end"},
                                           {Stream::kStdout, 3 * kNs, "e\n\ntwo\n"}};
  EXPECT_EQ(written({.timestamps = true}, chunks),
            "1970-01-01T00:00:02.000000000Z err\n1970-01-01T00:00:01.000000000Z one\n"
            "1970-01-01T00:00:03.000000000Z \n1970-01-01T00:00:03.000000000Z two\n"
            "1970-01-01T00:00:02.000000000Z no end\n");
  EXPECT_EQ(written({}, chunks), "onerr\nno ende\n\ntwo\n");
}

TEST(LineWriter, ALossIsALineOfItsOwn) {
  std::string count;
  push::put(count, std::uint64_t{77});
  const std::vector<push::Chunk> chunks = {{Stream::kStdout, 1 * kNs, "cut"},
                                           {Stream::kLost, 2 * kNs, count},
                                           {Stream::kStdout, 3 * kNs, "after\n"}};
  EXPECT_EQ(written({}, chunks), "cut\n[gpupool: 77 bytes of the output were lost here]\nafter\n");
  EXPECT_EQ(written({.timestamps = true}, chunks),
            "1970-01-01T00:00:01.000000000Z cut\n"
            "1970-01-01T00:00:02.000000000Z [gpupool: 77 bytes of the output were lost here]\n"
            "1970-01-01T00:00:03.000000000Z after\n");
}

TEST(LineWriter, OldLinesFirstLinesAndPartsAreLeftOut) {
  const std::vector<push::Chunk> chunks = {{Stream::kStdout, 1 * kNs, "rest of a line\none\n"},
                                           {Stream::kStdout, 2 * kNs, "two\nthree\n"}};
  EXPECT_EQ(written({.timestamps = true, .since = base::WallTime(std::chrono::seconds(2))}, chunks),
            "1970-01-01T00:00:02.000000000Z two\n1970-01-01T00:00:02.000000000Z three\n");
  EXPECT_EQ(written({.timestamps = true, .skip_lines = 3}, chunks), "1970-01-01T00:00:02.000000000Z three\n");
  EXPECT_EQ(written({.timestamps = true, .skip_lines = 2, .in_the_middle = true}, chunks),
            "1970-01-01T00:00:02.000000000Z three\n");
}

TEST(LineWriter, AnEndlessLineIsWrittenInParts) {
  const std::string megabyte(std::size_t{1} << 20, 'x');
  const std::string out =
      written({.timestamps = true}, {{Stream::kStdout, 0, megabyte}, {Stream::kStdout, 0, "y\n"}});
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2);
}

}  // namespace
}  // namespace gpupool::keeper
