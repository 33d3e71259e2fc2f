// SPDX-License-Identifier: Apache-2.0
#include "base/log_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/manual_clock.h"

namespace gpupool::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr LogLimit::Rate kRate{.burst = 3, .interval = seconds(10), .max_keys = 4};

TEST(LogLimit, WritesABurstThenOneForEachInterval) {
  test::ManualClock clock;
  LogLimit limit(kRate);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.admit("key", clock.now()), 0U);
  EXPECT_FALSE(limit.admit("key", clock.now()));
  clock.advance(seconds(10) - milliseconds(1));
  EXPECT_FALSE(limit.admit("key", clock.now()));
  clock.advance(milliseconds(1));
  EXPECT_EQ(limit.admit("key", clock.now()), 2U);  // how many were left out
  EXPECT_FALSE(limit.admit("key", clock.now()));
}

TEST(LogLimit, AnHourOfErrorsIsABoundedNumberOfLines) {
  test::ManualClock clock;
  LogLimit limit(kRate);
  std::uint64_t written = 0;
  std::uint64_t left_out = 0;
  constexpr int kErrors = 360'000;
  for (int i = 0; i < kErrors; ++i) {
    clock.advance(milliseconds(10));
    if (const auto admitted = limit.admit("key", clock.now())) {
      ++written;
      left_out += *admitted;
    }
  }
  EXPECT_EQ(written, 3U + 3600 / 10 - 1);
  EXPECT_LE(kErrors - written - left_out,
            1000U);  // the count covers all lines except those after the last line written
}

TEST(LogLimit, QuietGivesTheWholeBurstBackAndNoMore) {
  test::ManualClock clock;
  LogLimit limit(kRate);
  for (int i = 0; i < 100; ++i) limit.admit("key", clock.now());
  clock.advance(hours(1));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.admit("key", clock.now()));
  EXPECT_FALSE(limit.admit("key", clock.now()));
}

TEST(LogLimit, OneKeyDoesNotSilenceAnother) {
  test::ManualClock clock;
  LogLimit limit(kRate);
  for (int i = 0; i < 100; ++i) limit.admit("loud", clock.now());
  EXPECT_EQ(limit.admit("quiet", clock.now()), 0U);
}

TEST(LogLimit, KeysWithoutEndShareOneAllowance) {
  test::ManualClock clock;
  LogLimit limit(kRate);
  int written = 0;
  for (int i = 0; i < 1000; ++i) written += limit.admit(std::to_string(i), clock.now()) ? 1 : 0;
  EXPECT_EQ(written, 4 + 3);
  EXPECT_TRUE(limit.admit("0", clock.now()));  // a known key keeps its own allowance
}

TEST(LogLimit, ThreadsTogetherGetOneBurst) {
  test::ManualClock clock;
  LogLimit limit(kRate);
  std::atomic<int> written = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 100; ++n) written += limit.admit("key", clock.now()) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(written, 3);
}

}  // namespace
}  // namespace gpupool::base
