// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/metrics/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/bench-fair/jobs.h"

namespace gpupool::bench::fair {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(FairWindows, SharesAreMaxMin) {
  EXPECT_THAT(max_min_shares({10, 50, 90}, 100), ElementsAre(10, 45, 45));
  EXPECT_THAT(max_min_shares({10, 20, 30}, 100), ElementsAre(10, 20, 30));
  EXPECT_THAT(max_min_shares({0, 80}, 60), ElementsAre(0, 60));
}

TEST(FairWindows, FairnessIsJainsIndexOfWhoAskedForSomething) {
  EXPECT_THAT(fairness({.length = 10, .received = {500, 500, 0}, .demanded = {900, 900, 0}}, 100),
              DoubleEq(1));
  EXPECT_THAT(fairness({.length = 10, .received = {1000, 0}, .demanded = {2000, 2000}}, 100), DoubleEq(0.5));
  EXPECT_THAT(fairness({.length = 10, .received = {750, 250}, .demanded = {2000, 2000}}, 100), DoubleEq(0.8));
}

TEST(FairWindows, ContestedMeansMoreIsAskedForThanThereIs) {
  EXPECT_FALSE(contested({.length = 10, .received = {}, .demanded = {500, 500}}, 100));
  EXPECT_TRUE(contested({.length = 10, .received = {}, .demanded = {500, 501}}, 100));
}

// A job of 1 GPU for 7 hours, and one that waits for it.
TEST(FairWindows, TimeIsCutIntoWindows) {
  const auto workload = make_workload(1, 2, {{.seconds = 7 * 3600}, {.tenant = 1, .seconds = 3600}});
  const auto windows = play("fifo", workload).windows;
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].length, kWindow);
  EXPECT_THAT(windows[0].received, ElementsAre(6 * 3600, 0));
  EXPECT_THAT(windows[0].demanded, ElementsAre(6 * 3600, 6 * 3600));
  EXPECT_EQ(windows[0].waiting_job_seconds, 6 * 3600);
  EXPECT_EQ(windows[1].length, 2 * 3600);
  EXPECT_THAT(windows[1].received, ElementsAre(3600, 3600));
}

}  // namespace
}  // namespace gpupool::bench::fair
