// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/trial_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrialResultTest : public testing::Test {
 protected:
  JudgedTrial judge(const api::GpuJob& job) const { return judge_trial(job, &*sweep_.spec.objective); }

  api::GpuSweep sweep_ = test::make_sweep();
  api::GpuJob job_ = test::make_trial(sweep_, 0);
};

TEST_F(TrialResultTest, TextsAreReadAsTheyAreWritten) {
  const TrialResults results = {
      {0, {'S', "0.412"}}, {1, {'F', ""}}, {17, {'N', ""}}, {999, {'S', "-1e-300"}}};
  EXPECT_THAT(result_texts(results), ElementsAre("0 S 0.412", "1 F", "17 N", "999 S -1e-300"));
  EXPECT_EQ(parse_results(result_texts(results)), results);
}

TEST_F(TrialResultTest, ValuesAtRungsAreReadAsTheyAreWritten) {
  const TrialResults results = {{0, {'S', "0.412", {0.9, 0.5}}},
                                {1, {'X', "0.9", {0.9}}},
                                {2, {'F', "", {rung_value("0.123456789"), 1e300}}},
                                {3, {'S', "", {}}}};
  EXPECT_THAT(result_texts(results),
              ElementsAre("0 S 0.412 0.9,0.5", "1 X 0.9 0.9", "2 F - 0.12346,1e+300", "3 S"));
  EXPECT_EQ(parse_results(result_texts(results)), results);
  EXPECT_THAT(result_texts({{0, {'X', "NaN", {rung_value("x")}}}}), ElementsAre("0 X NaN NaN"));
  EXPECT_TRUE(std::isnan(parse_results({"0 X NaN NaN"}).at(0).rungs.at(0)));
}

TEST_F(TrialResultTest, WhatIsNoResultIsLeftOut) {
  EXPECT_TRUE(parse_results({"", "1", "1 ", "x S", "-1 S", "1 Q", "1 S0", "1S"}).empty());
}

TEST_F(TrialResultTest, TakesTheBestOrTheLastValue) {
  auto job = test::succeeded(job_, "0.5");
  auto& metric = job.status.metrics->values[0];
  metric.least = "0.25";
  metric.greatest = "2";
  metric.last = "NaN";
  EXPECT_EQ(judge(job).result, (TrialResult{'S', "0.25"}));
  sweep_.spec.objective->goal = api::sweep_goal::kMaximize;
  EXPECT_EQ(judge(job).result, (TrialResult{'S', "2"}));
  sweep_.spec.objective->take = api::sweep_take::kLast;
  EXPECT_EQ(judge(job).result, (TrialResult{'N', ""})) << "NaN is no value";
  EXPECT_EQ(judge(job).message, "metric val/loss was not a finite number");
  metric.last = "1";
  EXPECT_EQ(judge(job).result, (TrialResult{'S', "1"}));
}

TEST_F(TrialResultTest, OnlyNaNIsNoValue) {
  auto job = test::succeeded(job_, "0.5");
  auto& metric = job.status.metrics->values[0];
  metric.last = "NaN";
  metric.least = metric.greatest = "";
  EXPECT_EQ(judge(job).result.state, 'N');
}

TEST_F(TrialResultTest, AMetricThatNeverCameIsToldWithWhatCame) {
  const auto judged = judge(test::succeeded(job_));
  EXPECT_EQ(judged.result, (TrialResult{'N', ""}));
  EXPECT_TRUE(has_failed(judged.result));
  EXPECT_EQ(judged.reason, "MetricMissing");
  EXPECT_EQ(judged.message, "metric val/loss never came; numbers that came instead: loss, acc");
  auto job = test::succeeded(job_);
  job.status.metrics.reset();
  EXPECT_EQ(judge(job).message, "no metric came");
  sweep_.spec.objective->missing = api::sweep_missing::kIgnore;
  EXPECT_EQ(judge(test::succeeded(job_)).result, (TrialResult{'S', ""}));
}

TEST_F(TrialResultTest, AFailedJobFails) {
  const auto judged = judge(test::failed(job_));
  EXPECT_EQ(judged.result, (TrialResult{'F', ""}));
  EXPECT_EQ(judged.reason, "BackoffLimitExceeded");
  EXPECT_EQ(judged.message, "rank 0 crashed 4 times") << "without what it printed";
  EXPECT_EQ(judge_trial(test::succeeded(job_), nullptr).result, (TrialResult{'S', ""})) << "no objective";
}

TEST_F(TrialResultTest, TheTargetIsReachedFromTheBetterSide) {
  auto& objective = *sweep_.spec.objective;
  objective.target = "0.5";
  EXPECT_TRUE(reaches_target({'S', "0.5"}, &objective));
  EXPECT_TRUE(reaches_target({'S', "-7"}, &objective));
  EXPECT_FALSE(reaches_target({'S', "0.51"}, &objective));
  EXPECT_FALSE(reaches_target({'F', "0.1"}, &objective));
  EXPECT_FALSE(reaches_target({'S', ""}, &objective));
  objective.goal = api::sweep_goal::kMaximize;
  EXPECT_TRUE(reaches_target({'S', "0.51"}, &objective));
  EXPECT_FALSE(reaches_target({'S', "0.49"}, &objective));
  objective.target = "";
  EXPECT_FALSE(reaches_target({'S', "1e300"}, &objective));
}

}  // namespace
}  // namespace gpupool::planning
