// SPDX-License-Identifier: Apache-2.0
#include "base/backoff.h"

#include <gtest/gtest.h>

namespace gpupool::base {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kNow{1h};

TEST(Backoff, GrowsByTheFactorUpToTheCap) {
  Backoff backoff({.initial = 800ms, .cap = 3s}, 1);
  EXPECT_EQ(backoff.next(kNow), 800ms);
  EXPECT_EQ(backoff.next(kNow), 1600ms);
  EXPECT_EQ(backoff.next(kNow), 3s);
  EXPECT_EQ(backoff.next(kNow), 3s);
}

TEST(Backoff, AnInitialDelayOverTheCapIsCapped) {
  Backoff backoff({.initial = 10s, .cap = 3s}, 1);
  EXPECT_EQ(backoff.next(kNow), 3s);
}

TEST(Backoff, ResetStartsAnew) {
  Backoff backoff({.initial = 1s, .cap = 60s}, 1);
  backoff.next(kNow);
  backoff.next(kNow);
  backoff.reset();
  EXPECT_EQ(backoff.next(kNow), 1s);
}

TEST(Backoff, AQuietTimeResets) {
  Backoff backoff({.initial = 1s, .cap = 60s, .reset_after = 2min}, 1);
  EXPECT_EQ(backoff.next(kNow), 1s);
  EXPECT_EQ(backoff.next(kNow + 2min), 2s);
  EXPECT_EQ(backoff.next(kNow + 4min + 1ns), 1s);
}

TEST(Backoff, WithoutResetAfterNoTimeIsQuietEnough) {
  Backoff backoff({.initial = 1s, .cap = 60s}, 1);
  backoff.next(kNow);
  EXPECT_EQ(backoff.next(kNow + 10000h), 2s);
}

TEST(Backoff, JitterAddsUpToItsShareAndDiffersBySeed) {
  const Backoff::Limits limits{.initial = 10s, .factor = 1.0, .cap = 10s, .jitter = 0.5};
  Backoff one(limits, 1);
  Backoff two(limits, 2);
  bool differ = false;
  Duration low = 100s;
  Duration high = 0s;
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = one.next(kNow);
    differ = differ || delay != two.next(kNow);
    low = std::min(low, delay);
    high = std::max(high, delay);
  }
  EXPECT_TRUE(differ);
  EXPECT_GE(low, 10s);
  EXPECT_LT(low, 10100ms);
  EXPECT_GT(high, 14900ms);
  EXPECT_LT(high, 15s);
}

TEST(Backoff, ManyFailuresDoNotOverflow) {
  Backoff backoff({.initial = 1h, .factor = 10.0, .cap = Duration::max()}, 1);
  Duration last{};
  for (int i = 0; i < 100; ++i) {
    const Duration delay = backoff.next(kNow);
    EXPECT_GE(delay, last);
    last = delay;
  }
}

}  // namespace
}  // namespace gpupool::base
