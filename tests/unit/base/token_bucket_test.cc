// SPDX-License-Identifier: Apache-2.0
#include "base/token_bucket.h"

#include <gtest/gtest.h>

namespace gpupool::base {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kNow{1h};

TEST(TokenBucket, ABurstIsFreeAndThenCallersQueue) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.reserve(kNow), 0s);
  EXPECT_EQ(bucket.reserve(kNow), 100ms);
  EXPECT_EQ(bucket.reserve(kNow), 200ms);
}

TEST(TokenBucket, RefillsWithTimeButNotOverTheBurst) {
  TokenBucket bucket(10, 2);
  bucket.reserve(kNow);
  bucket.reserve(kNow);
  EXPECT_EQ(bucket.reserve(kNow + 100ms), 0s);
  EXPECT_EQ(bucket.reserve(kNow + 100h), 0s);
  EXPECT_EQ(bucket.reserve(kNow + 100h), 0s);
  EXPECT_EQ(bucket.reserve(kNow + 100h), 100ms);
}

TEST(TokenBucket, WhoWaitedIsNotChargedTwice) {
  TokenBucket bucket(1, 1);
  bucket.reserve(kNow);
  EXPECT_EQ(bucket.reserve(kNow), 1s);
  EXPECT_EQ(bucket.reserve(kNow + 1s), 1s);
}

TEST(TokenBucket, TimeGoingBackwardsGivesNothing) {
  TokenBucket bucket(1, 1);
  bucket.reserve(kNow);
  EXPECT_EQ(bucket.reserve(kNow - 1h), 1s);
  EXPECT_EQ(bucket.reserve(kNow), 2s);
}

}  // namespace
}  // namespace gpupool::base
