// SPDX-License-Identifier: Apache-2.0
#include "net/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace gpupool::net {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Collector {
  std::vector<std::string> lines = {};
  std::size_t stop_after = SIZE_MAX;
  bool operator()(std::string_view line) {
    lines.emplace_back(line);
    return lines.size() < stop_after;
  }
};

TEST(LineSplitter, JoinsPiecesAndKeepsTheUnfinishedRest) {
  LineSplitter splitter;
  Collector collector;
  EXPECT_TRUE(*splitter.feed("one\nt", std::ref(collector)));
  EXPECT_THAT(collector.lines, ElementsAre("one"));
  EXPECT_TRUE(*splitter.feed("w", std::ref(collector)));
  EXPECT_TRUE(*splitter.feed("o\n\n\nthree\nrest", std::ref(collector)));
  EXPECT_THAT(collector.lines, ElementsAre("one", "two", "three"));
}

TEST(LineSplitter, StopsWhenTheReaderHasEnough) {
  LineSplitter splitter;
  Collector collector{.stop_after = 2};
  const auto more = splitter.feed("1\n2\n3\n", std::ref(collector));
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more);
  EXPECT_THAT(collector.lines, ElementsAre("1", "2"));
}

TEST(LineSplitter, ALineAtTheLimitPassesAndALongerOneDoesNot) {
  for (const std::size_t piece_size : {1U, 3U, 100U}) {
    LineSplitter splitter(5);
    Collector collector;
    const auto feed = [&](std::string_view text) {
      base::Result<bool> result = true;
      for (std::size_t i = 0; i < text.size() && result; i += piece_size) {
        result = splitter.feed(text.substr(i, piece_size), std::ref(collector));
      }
      return result;
    };
    EXPECT_TRUE(feed("12345\n12345\n"));
    EXPECT_THAT(collector.lines, ElementsAre("12345", "12345"));
    const auto result = feed("123456\n");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, base::ErrorCode::kParse);
  }
}

TEST(LineSplitter, AnEndlessLineFailsBeforeItsEnd) {
  LineSplitter splitter(5);
  Collector collector;
  EXPECT_FALSE(splitter.feed("123456", std::ref(collector)));
  EXPECT_THAT(collector.lines, IsEmpty());
}

RC_GTEST_PROP(LineSplitterProperty, CuttingTheStreamDoesNotMatter, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n', '\0', '\r'));
  std::vector<std::string> expected;
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty()) {
      expected.push_back(line);
      line.clear();
    }
  }
  LineSplitter splitter;
  Collector collector;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = *rc::gen::inRange<std::size_t>(1, 6);
    RC_ASSERT(splitter.feed(std::string_view(text).substr(at, length), std::ref(collector)) == true);
    at += length;
  }
  RC_ASSERT(collector.lines == expected);
}

}  // namespace
}  // namespace gpupool::net
