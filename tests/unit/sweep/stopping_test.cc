// SPDX-License-Identifier: Apache-2.0
// Trials that are stopped early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sweep/plan_sweep_case.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoppingTest : public PlanSweepTest {
 protected:
  StoppingTest() {
    sweep_ = test::make_sweep(4);
    sweep_.spec.stopping.emplace();
    sweep_.spec.stopping->asha = api::SweepAsha{1, 9, 3};
    store();
    for (std::int64_t i = 0; i < 3; ++i) has(test::running(trial(i)));
    live_ = {{0, {0.5}}, {1, {0.4, 0.3}}, {2, {0.6}}};
  }
};

TEST_F(StoppingTest, LosersAreRecordedAndThenTheirJobsGo) {
  const auto first = store();
  EXPECT_THAT(first.status.results, ElementsAre("0 X 0.5 0.5", "2 X 0.6 0.6"));
  EXPECT_THAT(first.remove, IsEmpty()) << "the server has no result yet";
  EXPECT_EQ(first.status.counts.stopped, 2);
  EXPECT_EQ(first.status.counts.failed, 0);
  EXPECT_THAT(first.status.message,
              HasSubstr("2 of 4 trials have ended, 0 of them failed and 2 were stopped early"));
  EXPECT_FALSE(first.status.best) << "a trial that was stopped is not the best";
  const auto second = plan();
  EXPECT_THAT(names(second.remove), ElementsAre("tune-0", "tune-2")) << "whatever keepJobs says";
  EXPECT_EQ(second.status, first.status);
  sweep_.spec.parallel = 3;
  EXPECT_THAT(plan().create, IsEmpty()) << "they hold their nodes";
  std::erase_if(jobs_, [](const auto& job) { return job->metadata.name == "tune-2"; });
  EXPECT_THAT(plan().create, ElementsAre(3));
}

TEST_F(StoppingTest, TrialsThatHaveEndedStillCount) {
  has(test::succeeded(trial(1), "0.3"));
  live_.erase(2);
  EXPECT_THAT(store().status.results, ElementsAre("1 S 0.3 0.4,0.3")) << "two values are too few";
  live_ = {{0, {0.5}}, {2, {0.2}}};  // another operator has heard nothing of trial 1
  EXPECT_THAT(store().status.results, ElementsAre("0 X 0.5 0.5", "1 S 0.3 0.4,0.3"));
}

TEST_F(StoppingTest, EndsWhenAllHaveEnded) {
  store();
  has(test::succeeded(trial(1), "0.3"));
  has(test::succeeded(trial(3), "0.2"));
  const auto end = store();
  EXPECT_EQ(end.status.phase, "Succeeded");
  EXPECT_EQ(end.status.message, "2 trials succeeded, 0 failed, 2 were stopped early");
  EXPECT_EQ(end.status.best->trial, 3);
}

TEST_F(StoppingTest, NobodyIsStoppedWhileItIsSuspendedOrChanged) {
  sweep_.spec.suspend = true;
  EXPECT_THAT(plan().status.results, IsEmpty());
  sweep_.spec.suspend = false;
  sweep_.spec.keep_jobs = "None";
  EXPECT_THAT(plan().status.results, IsEmpty());
}

TEST_F(StoppingTest, WithoutTheRuleNumbersStopNobody) {
  begin(4);
  for (std::int64_t i = 0; i < 3; ++i) has(test::running(trial(i)));
  EXPECT_THAT(plan().status.results, IsEmpty());
}

TEST_F(StoppingTest, SaysThatNoWorkerAnswers) {
  live_.clear();
  live_trouble_ = "192.0.2.1:29499: does not answer";
  EXPECT_THAT(plan().status.message,
              HasSubstr("no trial can be stopped early, because their numbers cannot be read: "
                        "192.0.2.1:29499: does not answer"));
}

}  // namespace
}  // namespace gpupool::planning
