// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/live_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNan;

class LiveValuesTest : public testing::Test {
 protected:
  api::SweepObjective objective_ = *test::make_sweep().spec.objective;
  std::string answer_ = "gpupool-metrics 1\nacc 0.1 0.1 0.1\nval/loss 0.5 0.4 0.6 NaN 0.3 0.7\n";
};

TEST_F(LiveValuesTest, TakesWhatTheObjectiveSays) {
  EXPECT_THAT(*parse_live_values(answer_, objective_), ElementsAre(0.4, 0.3));
  objective_.goal = api::sweep_goal::kMaximize;
  EXPECT_THAT(*parse_live_values(answer_, objective_), ElementsAre(0.6, 0.7));
  objective_.take = api::sweep_take::kLast;
  EXPECT_THAT(*parse_live_values(answer_, objective_), ElementsAre(DoubleEq(0.5), IsNan()));
}

TEST_F(LiveValuesTest, NoRungIsReachedYet) {
  EXPECT_THAT(*parse_live_values("gpupool-metrics 1\n", objective_), IsEmpty());
  EXPECT_THAT(*parse_live_values("gpupool-metrics 1\nval/los 1 1 1\n", objective_), IsEmpty());
}

TEST_F(LiveValuesTest, WhatNoLauncherSendsIsNoAnswer) {
  for (const char* text : {"", "\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "gpupool-metrics 2\n",
                           "gpupool-metrics 1\nval/loss 0.5 0.4"}) {
    EXPECT_FALSE(parse_live_values(text, objective_)) << text;
  }
}

TEST_F(LiveValuesTest, WhatIsNoNumberIsNotFinite) {
  EXPECT_THAT(*parse_live_values("gpupool-metrics 1\nval/loss x - y 1 2\n", objective_),
              ElementsAre(IsNan(), 2));
}

TEST_F(LiveValuesTest, OfTooManyValuesTheFirstAreTaken) {
  std::string answer = "gpupool-metrics 1\nval/loss";
  for (int i = 0; i < 1000; ++i) answer += " 1";
  EXPECT_EQ(parse_live_values(answer + "\n", objective_)->size(), 16U);
}

TEST_F(LiveValuesTest, WhatIsKnownStays) {
  RungValues known = {1, 2};
  add_values(known, {7});
  EXPECT_THAT(known, ElementsAre(1, 2)) << "an attempt that begins again";
  add_values(known, {7, 8, 9});
  EXPECT_THAT(known, ElementsAre(1, 2, 9));
}

}  // namespace
}  // namespace gpupool::planning
