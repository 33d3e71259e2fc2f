// SPDX-License-Identifier: Apache-2.0
#include "ingest/writer.h"

#include <gtest/gtest.h>

namespace gpupool::keeper {
namespace {

using std::chrono::seconds;

TEST(Writer, IsAllowedABurstAndThenTheRate) {
  const Rate rate{.bytes_per_second = 1000, .burst = 5000};
  const base::SteadyTime begin{seconds(100)};
  Writer writer(base::UniqueFd(), begin, rate);
  EXPECT_EQ(writer.allowed(rate, begin), 5000U);
  writer.spend(5000, rate, begin);
  EXPECT_EQ(writer.allowed(rate, begin), 0U);
  EXPECT_EQ(writer.allowed(rate, begin + seconds(2)), 2000U);
  EXPECT_EQ(writer.allowed(rate, begin + seconds(1000)), 5000U);
  EXPECT_TRUE(writer.reads());
}

TEST(Writer, WhoSendsFarTooMuchIsPausedUntilItIsPaidBack) {
  const Rate rate{.bytes_per_second = 1'000'000, .burst = 1'000'000};
  const base::SteadyTime begin{seconds(100)};
  Writer writer(base::UniqueFd(), begin, rate);
  writer.spend(1'500'000, rate, begin);
  EXPECT_TRUE(writer.reads());  // a command's last output may come on top
  writer.spend(1'500'000, rate, begin);
  ASSERT_FALSE(writer.reads());
  EXPECT_EQ(*writer.paused_until, begin + seconds(2));
}

}  // namespace
}  // namespace gpupool::keeper
