// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/line_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace gpupool::logs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr milliseconds kWindow{50};

base::SteadyTime at(int ms) { return base::SteadyTime(milliseconds(ms)); }

LogLine line_at(int ms, const std::string& text) {
  return {.time = base::WallTime(milliseconds(ms)), .stamp = {}, .text = text, .cut = 0, .id = 0};
}

std::vector<std::string> due(LineMerger& merger, int now) {
  std::vector<std::string> texts;
  merger.take_due(at(now), [&](std::size_t, const LogLine& line) { texts.push_back(line.text); });
  return texts;
}

TEST(LineMerger, OneLogIsPassedOnAtOnce) {
  LineMerger merger(kWindow);
  const auto log = merger.open();
  merger.add(log, line_at(1, "a"), at(0));
  merger.add(log, line_at(2, "b"), at(0));
  EXPECT_THAT(due(merger, 0), ElementsAre("a", "b"));
}

TEST(LineMerger, LinesOfSeveralLogsComeInTheOrderOfTheirTimes) {
  LineMerger merger(kWindow);
  const auto a = merger.open();
  const auto b = merger.open();
  merger.add(a, line_at(2, "a2"), at(0));
  EXPECT_THAT(due(merger, 10), IsEmpty());
  merger.add(b, line_at(1, "b1"), at(10));
  EXPECT_THAT(due(merger, 10), ElementsAre("b1"));
  EXPECT_EQ(at(50), merger.next_due());
  EXPECT_THAT(due(merger, 49), IsEmpty());
  EXPECT_THAT(due(merger, 50), ElementsAre("a2"));
  EXPECT_FALSE(merger.next_due());
}

TEST(LineMerger, ASilentLogDelaysByTheWindowOnly) {
  LineMerger merger(kWindow);
  const auto a = merger.open();
  const auto silent = merger.open();
  merger.add(a, line_at(1, "a1"), at(0));
  merger.add(a, line_at(2, "a2"), at(30));
  EXPECT_THAT(due(merger, 50), ElementsAre("a1"));
  EXPECT_THAT(due(merger, 80), ElementsAre("a2"));
  merger.add(silent, line_at(1, "late"), at(90));
  merger.close(a);
  EXPECT_THAT(due(merger, 90), ElementsAre("late"));
}

TEST(LineMerger, AClosedLogIsNotWaitedFor) {
  LineMerger merger(kWindow);
  const auto a = merger.open();
  const auto b = merger.open();
  merger.add(a, line_at(1, "a1"), at(0));
  merger.add(a, line_at(3, "a3"), at(0));
  merger.add(b, line_at(2, "b2"), at(0));
  merger.close(b);
  EXPECT_THAT(due(merger, 0), ElementsAre("a1", "b2", "a3"));
  EXPECT_TRUE(merger.empty());
  EXPECT_EQ(0U, merger.waiting_bytes(a));
}

TEST(LineMerger, LinesOfOneLogKeepTheirOrderAgainstTheirTimes) {
  LineMerger merger(kWindow);
  const auto a = merger.open();
  merger.add(a, line_at(5, "first"), at(0));
  merger.add(a, line_at(4, "second"), at(0));
  merger.close(a);
  EXPECT_THAT(due(merger, 0), ElementsAre("first", "second"));
}

TEST(LineMerger, CountsWaitingBytesOfEmptyLinesToo) {
  LineMerger merger(kWindow);
  const auto a = merger.open();
  merger.add(a, line_at(1, ""), at(0));
  EXPECT_GT(merger.waiting_bytes(a), 0U);
}

// Whatever arrives when: nothing is lost or doubled, each log keeps its order, and nothing waits longer than
// the window.
RC_GTEST_PROP(LineMergerProperty, KeepsOrderAndWindow, ()) {
  LineMerger merger(kWindow);
  const auto logs = static_cast<std::size_t>(*rc::gen::inRange(1, 5));
  for (std::size_t i = 0; i < logs; ++i) merger.open();
  std::map<std::size_t, int> sent;
  std::map<std::size_t, int> received;
  std::map<std::string, int> arrived;
  std::vector<bool> open(logs, true);
  const auto receive = [&](int now) {
    merger.take_due(at(now), [&](std::size_t log, const LogLine& line) {
      RC_ASSERT(line.text == std::to_string(log) + ":" + std::to_string(received[log]++));
    });
    RC_ASSERT(!merger.next_due() || *merger.next_due() > at(now));
  };
  int now = 0;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40))) {
    now += step;
    const auto log = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(logs)));
    if (open[log] && step == 7) {
      merger.close(log);
      open[log] = false;
    }
    if (open[log]) {
      merger.add(
          log,
          line_at(now - *rc::gen::inRange(0, 30), std::to_string(log) + ":" + std::to_string(sent[log]++)),
          at(now));
    }
    receive(now);
  }
  receive(now + 50);
  RC_ASSERT(merger.empty());
  for (const auto& [log, count] : sent) RC_ASSERT(received[log] == count);
}

}  // namespace
}  // namespace gpupool::logs
