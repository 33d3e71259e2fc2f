// SPDX-License-Identifier: Apache-2.0
#include "launcher/hold.h"

#include <gtest/gtest.h>

namespace gpupool::launcher {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kStored{1'800'000'000s};
constexpr std::chrono::seconds kLeast = 10s;

TEST(HoldPause, IsAsLongAsHasPassedSinceTheResult) {
  EXPECT_EQ(hold_pause(kStored, kStored + 11s, kLeast), 11s);
  EXPECT_EQ(hold_pause(kStored, kStored + 25'500ms, kLeast), 25'500ms);
}

TEST(HoldPause, HasABoundAtEachEndWhateverTheClockDoes) {
  EXPECT_EQ(hold_pause(kStored, kStored, kLeast), 10s);
  EXPECT_EQ(hold_pause(kStored, kStored + 9s, kLeast), 10s);
  EXPECT_EQ(hold_pause(kStored, kStored - 24h * 365, kLeast), 10s);
  EXPECT_EQ(hold_pause(kStored, kStored + 24h * 365, kLeast), 24h);
  EXPECT_EQ(hold_pause(WallTime{}, kStored, kLeast), 24h);
  EXPECT_EQ(hold_pause(kStored, kStored, 24h), 24h);
}

TEST(HoldPause, AMonthNeedsFewStarts) {
  int starts = 0;
  for (WallTime now = kStored; now < kStored + 24h * 30; now += hold_pause(kStored, now, kLeast)) ++starts;
  EXPECT_LT(starts, 50);
  EXPECT_GT(starts, 30);  // after a day each
}

}  // namespace
}  // namespace gpupool::launcher
