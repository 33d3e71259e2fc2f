// SPDX-License-Identifier: Apache-2.0
#include "transfer/pace.h"

#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry {
namespace {

using namespace std::chrono_literals;

TEST(Pace, WaitsGrowTo20Seconds) {
  JumpingClock clock;
  const Waiting waiting{&clock, [] { return 0.9999999; }};
  Pace pace(clock.now() + 1h, waiting);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(pace.wait({FailureKind::kUnavailable, "x"}, {}, {}));
  const auto waits = clock.waits();
  EXPECT_EQ(waits.at(0), 199ms);
  EXPECT_EQ(waits.at(1), 399ms);
  EXPECT_EQ(waits.at(6), 12799ms);
  EXPECT_EQ(waits.at(7), 19999ms);
  EXPECT_EQ(waits.at(39), 19999ms);
}

TEST(Pace, OnlyUnavailableServersAreWaitedFor) {
  JumpingClock clock;
  const Waiting waiting{&clock, [] { return 0.5; }};
  Pace pace(clock.now() + 1h, waiting);
  const auto waited = pace.wait({FailureKind::kDenied, "no"}, {}, {});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().message, "no");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(pace.wait({FailureKind::kUnavailable, "x"}, {}, stop.get_token()).error().kind,
            FailureKind::kStopped);
}

TEST(Pace, AWaitBeyondTheDeadlineIsNotBegun) {
  JumpingClock clock;
  const Waiting waiting{&clock, [] { return 0.5; }};
  Pace pace(clock.now() + 5s, waiting);
  EXPECT_EQ(pace.wait({FailureKind::kUnavailable, "x"}, 6s, {}).error().message,
            "x (tried once, and the time is over)");
  EXPECT_TRUE(clock.waits().empty());
}

}  // namespace
}  // namespace gpupool::carry
