// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/tenant_usage.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using std::chrono::milliseconds;
using test::at;

constexpr std::int64_t kHalfLife = 7 * 86'400;

base::WallTime at_ms(std::int64_t ms) { return at(0) + milliseconds(ms); }

TEST(TenantUsage, CountsWhatIsHeld) {
  TenantUsage usage(kHalfLife, at(0));
  usage.add_held(2 * kMilli, at(10));
  EXPECT_EQ(usage.used(at(10)), 0);
  EXPECT_EQ(usage.used(at(20)), 20 * kMilli);
  usage.add_held(-2 * kMilli, at(20));
  EXPECT_EQ(usage.used(at(30)), 20 * kMilli);
}

TEST(TenantUsage, HalfIsLeftAfterTheHalfLife) {
  TenantUsage usage(kHalfLife, at(0));
  usage.add_held(100 * kMilli, at(0));
  usage.add_held(-100 * kMilli, at(3600));
  const auto begin = usage.used(at(3600));
  const auto later = usage.used(at(3600 + kHalfLife));
  EXPECT_NEAR(static_cast<double>(later) / static_cast<double>(begin), 0.5, 0.001);
}

TEST(TenantUsage, WhatIsHeldForLongIsTheAverage) {
  TenantUsage usage(kHalfLife, at(0));
  usage.add_held(16 * kMilli, at(0));
  EXPECT_NEAR(static_cast<double>(usage.average_held(at(20 * kHalfLife))), 16.0 * kMilli, 0.01 * 16 * kMilli);
  EXPECT_NEAR(static_cast<double>(usage.average_held(at(20 * kHalfLife + 1))), 16.0 * kMilli,
              0.01 * 16 * kMilli);
}

TEST(TenantUsage, AClockThatGoesBackStandsStill) {
  TenantUsage usage(kHalfLife, at(100));
  usage.add_held(kMilli, at(100));
  EXPECT_EQ(usage.used(at(110)), 10 * kMilli);
  EXPECT_EQ(usage.used(at(50)), 10 * kMilli);
  EXPECT_EQ(usage.used(at(111)), 11 * kMilli);
}

TEST(TenantUsage, AnIdleTenantCostsNothing) {
  TenantUsage usage(3600, at(0));
  EXPECT_EQ(usage.used(at(std::int64_t{100} * 365 * 86'400)), 0);
}

// The number depends on what was held, not on when somebody asked, and not on an operator that began anew.
RC_GTEST_PROP(TenantUsage, IsTheSameWheneverItIsRead, ()) {
  const auto half_life = *rc::gen::inRange<std::int64_t>(3600, 31'536'001);
  TenantUsage seldom(half_life, at(0));
  TenantUsage often(half_life, at(0));
  std::int64_t now = 0;
  const auto changes = *rc::gen::inRange(1, 12);
  for (int i = 0; i < changes; ++i) {
    const auto until = now + *rc::gen::inRange<std::int64_t>(0, half_life * 100);
    const auto looks = *rc::gen::inRange(0, 5);
    for (int look = 0; look < looks; ++look) {
      often.used(at_ms(*rc::gen::inRange<std::int64_t>(now, until + 1)));
      often.average_held(at_ms(now));
    }
    now = until;
    const auto more = *rc::gen::inRange<MilliGpus>(0, 1'600'000);
    for (auto* usage : {&seldom, &often}) usage->add_held(more - usage->held(), at_ms(now));
  }
  now += *rc::gen::inRange<std::int64_t>(0, half_life * 3000);
  RC_ASSERT(seldom.used(at_ms(now)) == often.used(at_ms(now)));
}

RC_GTEST_PROP(TenantUsage, GoesOnFromWhatWasStored, ()) {
  const auto half_life = *rc::gen::inRange<std::int64_t>(3600, 31'536'001);
  const auto held = *rc::gen::inRange<MilliGpus>(0, 1'600'000);
  const auto stored_at = *rc::gen::inRange<std::int64_t>(0, half_life * 5000);
  const auto read_at = stored_at + *rc::gen::inRange<std::int64_t>(0, half_life * 5000);
  TenantUsage first(half_life, at(0));
  first.add_held(held, at(0));
  TenantUsage second(half_life, at_ms(read_at));
  second.restore(first.used(at_ms(stored_at)), at_ms(stored_at));
  second.add_held(held, at_ms(stored_at));
  // Less than a second of what is held, since parts of a milli-GPU-second are not stored.
  RC_ASSERT(std::abs(second.used(at_ms(read_at)) - first.used(at_ms(read_at))) <= held + 1);
}

}  // namespace
}  // namespace gpupool::planning
