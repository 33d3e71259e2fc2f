// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/sweep_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/status_json.h"
#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<std::int64_t> trials_of(const std::vector<api::SweepTrial>& top) {
  std::vector<std::int64_t> trials;
  for (const auto& trial : top) trials.push_back(trial.trial);
  return trials;
}

class SweepStatusTest : public testing::Test {
 protected:
  void show(const TrialResults& results) {
    show_results(status_, sweep_, results, 30, &space_);
    settle_status(status_, 2, std::nullopt, test::sweep_time(0));
  }

  api::GpuSweep sweep_ = test::make_sweep(30);
  TrialSpace space_{sweep_.spec};
  api::GpuSweepStatus status_;
};

TEST_F(SweepStatusTest, CountsAndRanks) {
  show({{0, {'S', "0.5"}},
        {1, {'F', ""}},
        {2, {'S', "-3e2"}},
        {3, {'N', ""}},
        {4, {'X', ""}},
        {5, {'S', ""}},
        {6, {'D', ""}},
        {7, {'S', "0.5"}},
        {8, {'S', "7"}}});
  EXPECT_EQ(status_.counts, (api::SweepCounts{30, 30, 21, 5, 3, 1}));
  EXPECT_EQ(status_.progress, "9/30");
  EXPECT_THAT(trials_of(status_.top), ElementsAre(2, 0, 7, 8)) << "of equal ones the first";
  EXPECT_EQ(status_.best->job, "tune-2");
  EXPECT_EQ(status_.best->value, "-3e2");
  EXPECT_THAT(status_.best->parameters, ElementsAre(Pair("lr", "3")));
  sweep_.spec.objective->goal = api::sweep_goal::kMaximize;
  show({{0, {'S', "0.5"}}, {2, {'S', "-3e2"}}, {8, {'S', "7"}}});
  EXPECT_THAT(trials_of(status_.top), ElementsAre(8, 0, 2));
}

TEST_F(SweepStatusTest, ShowsTenAtMost) {
  TrialResults results;
  for (std::int64_t i = 0; i < 30; ++i) results[i] = {'S', std::to_string(100 - i)};
  show(results);
  EXPECT_THAT(trials_of(status_.top), ElementsAre(29, 28, 27, 26, 25, 24, 23, 22, 21, 20));
}

TEST_F(SweepStatusTest, KeepsTheLastFailures) {
  for (std::int64_t i = 0; i < 12; ++i)
    show_failure(status_, i, {{'F', ""}, "WorkerFailed", std::string(1000, 'x')});
  ASSERT_EQ(status_.failures.size(), kShownFailures);
  EXPECT_EQ(status_.failures.front().trial, 7);
  EXPECT_EQ(status_.failures.back().message.size(), 200U);
}

TEST_F(SweepStatusTest, OneConditionAtMostSaysHowItGoes) {
  status_.phase = api::phase::kRunning;
  status_.reason = "TrialsRunning";
  show({});
  EXPECT_FALSE(api::is_true(status_.conditions, "Stalled"));
  settle_status(status_, 2, api::Problem{"QuotaExceeded", "no more jobs"}, test::sweep_time(0));
  EXPECT_TRUE(api::is_true(status_.conditions, "Stalled"));
  EXPECT_FALSE(api::is_true(status_.conditions, "Reconciling"));
  EXPECT_EQ(status_.message, "no more jobs");
  status_.phase = api::phase::kFailed;
  settle_status(status_, 2, std::nullopt, test::sweep_time(0));
  EXPECT_TRUE(api::is_true(status_.conditions, "Failed"));
  EXPECT_TRUE(api::is_true(status_.conditions, "Stalled"));
  EXPECT_FALSE(api::is_true(status_.conditions, "Complete"));
}

TEST_F(SweepStatusTest, IsSmallWithAThousandTrials) {
  sweep_ = test::make_sweep(1000);
  sweep_.metadata.name = std::string(40, 's');
  for (const std::size_t length : {20U, 110U, 500U}) {
    sweep_.spec.parameters = {test::with_values("a_parameter", {std::string(length, 'v')}),
                              test::with_integers("n", 1, 1000)};
    space_ = TrialSpace(sweep_.spec);
    TrialResults results;
    for (std::int64_t i = 0; i < 1000; ++i) results[i] = {'S', "-1.23456789e-105"};
    for (std::int64_t i = 0; i < 10; ++i)
      show_failure(status_, i, {{'F', ""}, "BackoffLimitExceeded", std::string(300, 'm')});
    status_.phase = api::phase::kFailed;
    status_.reason = "MaxFailedExceeded";
    status_.message = std::string(300, 'm');
    show_results(status_, sweep_, results, 1000, &space_);
    settle_status(status_, 2, std::nullopt, test::sweep_time(0));
    EXPECT_EQ(status_.top.front().parameters.empty(), length > 110);
    EXPECT_EQ(status_.best->parameters.empty(), length > 490);
    EXPECT_LE(api::status_update(sweep_.metadata, status_).size(), 32U * 1024U) << length;
  }
}

TEST_F(SweepStatusTest, IsBoundedWithTheValuesAtRungs) {
  sweep_ = test::make_sweep(1000);
  TrialResults results;
  for (std::int64_t i = 0; i < 1000; ++i) {  // 667 reach one rung, 222 two, and so on
    auto& result = results[i] = {'X', "-1.2345e-105"};
    for (std::int64_t reached = 1; (i + 1) % reached == 0; reached *= 3) result.rungs.push_back(-1.2345e-105);
  }
  show_results(status_, sweep_, results, 1000, &space_);
  settle_status(status_, 2, std::nullopt, test::sweep_time(0));
  EXPECT_LE(api::status_update(sweep_.metadata, status_).size(), 64U * 1024U);
}

}  // namespace
}  // namespace gpupool::planning
