// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_config.h"

#include <gtest/gtest.h>

namespace gpupool::faults {
namespace {

TEST(FaultConfigTest, ReadsWhatAUserWrites) {
  const auto config = parse_faults("seed=7,rate=0.05,kinds=reset+expired-event");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->seed, 7U);
  EXPECT_DOUBLE_EQ(config->rate, 0.05);
  EXPECT_EQ(config->kinds, (std::set<Fault>{Fault::kReset, Fault::kExpiredEvent}));
}

TEST(FaultConfigTest, NothingMeansNoFault) {
  ASSERT_TRUE(parse_faults(""));
  EXPECT_DOUBLE_EQ(parse_faults("")->rate, 0);
  ASSERT_TRUE(parse_crash(""));
  EXPECT_EQ(parse_crash("")->call, 0U);
}

TEST(FaultConfigTest, ASlipIsAnErrorThatShowsIt) {
  for (const auto* text : {"seed=x", "rate=2", "rate=-1", "rate=", "kinds=nonsense", "speed=3", "seed"}) {
    const auto config = parse_faults(text);
    ASSERT_FALSE(config) << text;
    EXPECT_NE(config.error().message.find(text), std::string::npos);
  }
  for (const auto* text : {"before", "before:", "before:0", "within:3", "after:x", ":3"}) {
    EXPECT_FALSE(parse_crash(text)) << text;
  }
}

TEST(FaultConfigTest, Crash) {
  EXPECT_EQ(parse_crash("before:12")->call, 12U);
  EXPECT_FALSE(parse_crash("before:12")->after);
  EXPECT_TRUE(parse_crash("after:1")->after);
}

}  // namespace
}  // namespace gpupool::faults
