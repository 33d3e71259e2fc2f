// SPDX-License-Identifier: Apache-2.0
#include "base/pace.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace gpupool::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Pace, EachIsDoneOnceAnInterval) {
  test::ManualClock clock;
  Pace pace(seconds(1), clock);
  EXPECT_EQ(pace.until_next("a"), Duration::zero());
  pace.done("a");
  clock.advance(milliseconds(300));
  EXPECT_EQ(pace.until_next("a"), milliseconds(700));
  EXPECT_EQ(pace.until_next("b"), Duration::zero());
  clock.advance(milliseconds(700));
  EXPECT_EQ(pace.until_next("a"), Duration::zero());
}

TEST(Pace, TheLastTimeCounts) {
  test::ManualClock clock;
  Pace pace(seconds(1), clock);
  pace.done("a");
  clock.advance(milliseconds(600));
  pace.done("a");
  clock.advance(milliseconds(600));
  pace.done("b");  // forgets only the first entry of "a"
  EXPECT_EQ(pace.until_next("a"), milliseconds(400));
}

TEST(Pace, NoIntervalNoWait) {
  test::ManualClock clock;
  Pace pace(Duration::zero(), clock);
  pace.done("a");
  EXPECT_EQ(pace.until_next("a"), Duration::zero());
}

}  // namespace
}  // namespace gpupool::base
