// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/plan_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sweep/plan_sweep_case.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(PlanSweepTest, StartsByTheStatusAlone) {
  sweep_ = test::make_sweep(4);
  const auto start = plan();
  EXPECT_THAT(start.create, IsEmpty()) << "the hash of the spec is written before a trial begins";
  EXPECT_EQ(start.status.phase, "Running");
  EXPECT_EQ(start.status.counts.total, 4);
  EXPECT_TRUE(start.status.start_time);
  EXPECT_TRUE(api::is_true(start.status.conditions, "Reconciling"));
  sweep_.status = start.status;
  EXPECT_THAT(plan().create, ElementsAre(0, 1, 2, 3));
}

TEST_F(PlanSweepTest, AnInvalidSweepDoesNotStart) {
  sweep_ = test::make_sweep(4);
  problem_ = api::Problem{"InvalidSpec", "spec.parallel must be at least 1"};
  const auto start = store();
  EXPECT_EQ(start.status.phase, "Invalid");
  EXPECT_EQ(start.status.message, problem_->message);
  EXPECT_TRUE(api::is_true(start.status.conditions, "Stalled"));
  EXPECT_EQ(start.status.spec_hash, "");
  problem_.reset();
  EXPECT_EQ(plan().status.phase, "Running") << "when it is corrected";
}

TEST_F(PlanSweepTest, HasAtMostThisManyUnfinishedTrials) {
  sweep_.spec.parallel = 2;
  EXPECT_THAT(plan().create, ElementsAre(0, 1));
  has(trial(0));
  has(test::running(trial(1)));
  EXPECT_THAT(plan().create, IsEmpty());
  has(test::succeeded(trial(0), "0.5"));
  EXPECT_THAT(plan().create, ElementsAre(2)) << "before its result is stored";
  sweep_.spec.parallel = 100;
  EXPECT_THAT(plan().create, ElementsAre(2, 3));
}

TEST_F(PlanSweepTest, RecordsHowTrialsEnd) {
  has(test::succeeded(trial(0), "0.5"));
  has(test::failed(trial(1)));
  has(test::succeeded(trial(2)));
  has(test::running(trial(3)));
  const auto planned = store();
  EXPECT_THAT(planned.status.results, ElementsAre("0 S 0.5", "1 F", "2 N"));
  EXPECT_EQ(planned.status.counts, (api::SweepCounts{4, 4, 1, 1, 2, 0}));
  ASSERT_THAT(planned.status.failures, SizeIs(2));
  EXPECT_EQ(planned.status.failures[1].reason, "MetricMissing");
  EXPECT_EQ(planned.status.message, "3 of 4 trials have ended, 2 of them failed; 1 are unfinished");
  EXPECT_EQ(plan().status, sweep_.status) << "and only once";
}

TEST_F(PlanSweepTest, EndsWithTheLastTrial) {
  for (std::int64_t i = 0; i < 4; ++i) has(test::succeeded(trial(i), std::to_string(4 - i)));
  const auto end = store();
  EXPECT_EQ(end.status.phase, "Succeeded");
  EXPECT_EQ(end.status.reason, "Completed");
  EXPECT_EQ(end.status.message, "4 trials succeeded, 0 failed");
  EXPECT_EQ(end.status.best->trial, 3);
  EXPECT_TRUE(end.status.completion_time);
  EXPECT_TRUE(api::is_true(end.status.conditions, "Complete"));
  jobs_.clear();
  const auto after = plan();
  EXPECT_EQ(after.status, sweep_.status) << "what happens to jobs later changes nothing";
  EXPECT_THAT(after.create, IsEmpty());
}

TEST_F(PlanSweepTest, FailsIfNoTrialSucceeds) {
  for (std::int64_t i = 0; i < 4; ++i) has(test::failed(trial(i)));
  const auto end = plan();
  EXPECT_EQ(end.status.phase, "Failed");
  EXPECT_EQ(end.status.reason, "NoTrialSucceeded");
  EXPECT_THAT(end.status.message, HasSubstr("trial 3: BackoffLimitExceeded: rank 0 crashed 4 times"));
}

TEST_F(PlanSweepTest, StopsWhenTooManyHaveFailed) {
  sweep_.spec.max_failed = 1;
  has(test::failed(trial(0)));
  has(test::running(trial(2)));
  EXPECT_EQ(store().status.phase, "Running") << "one is allowed";
  has(test::failed(trial(1)));
  has(trial(3));
  const auto end = store();
  EXPECT_EQ(end.status.phase, "Failed");
  EXPECT_EQ(end.status.reason, "MaxFailedExceeded");
  EXPECT_THAT(end.status.results, ElementsAre("0 F", "1 F", "2 X", "3 X"));
  EXPECT_THAT(end.remove, IsEmpty()) << "not before the status shows it";
  EXPECT_THAT(names(plan().remove), ElementsAre("tune-2", "tune-3"));
}

TEST_F(PlanSweepTest, StopsAtTheTarget) {
  sweep_.spec.objective->target = "0.5";
  sweep_.spec.parallel = 2;
  has(test::running(trial(0)));
  has(test::succeeded(trial(1), "0.6"));
  EXPECT_THAT(store().create, ElementsAre(2));
  has(test::succeeded(trial(2), "0.4"));
  const auto end = store();
  EXPECT_EQ(end.status.phase, "Succeeded");
  EXPECT_EQ(end.status.reason, "TargetReached");
  EXPECT_EQ(end.status.message, "trial 2 has reached the target 0.5 with 0.4");
  EXPECT_THAT(end.create, IsEmpty());
  EXPECT_THAT(names(plan().remove), ElementsAre("tune-0"));
}

TEST_F(PlanSweepTest, ATargetThatIsEditedCountsForWhatIsRecorded) {
  has(test::succeeded(trial(0), "0.6"));
  store();
  sweep_.spec.objective->target = "0.7";
  EXPECT_EQ(plan().status.reason, "TargetReached");
}

TEST_F(PlanSweepTest, AGapIsNeverTakenForADeletedTrial) {
  has(trial(0));
  has(trial(2));  // the operator died while it created trials 1 and 2 at once
  const auto planned = store();
  EXPECT_EQ(planned.status.counts.created, 1);
  EXPECT_THAT(planned.look_up, IsEmpty());
  EXPECT_THAT(planned.create, ElementsAre(1, 3));
}

TEST_F(PlanSweepTest, ATrialWhoseJobSomebodyDeletedIsNotRunAgain) {
  for (std::int64_t i = 0; i < 4; ++i) has(test::running(trial(i)));
  store();
  std::erase_if(jobs_, [](const auto& job) { return job->metadata.name == "tune-1"; });
  const auto planned = plan();
  EXPECT_THAT(planned.look_up, ElementsAre(1)) << "the cache may be behind";
  EXPECT_THAT(planned.create, IsEmpty());
  EXPECT_THAT(planned.status.results, IsEmpty());
  gone_ = {1};
  const auto known = store();
  EXPECT_THAT(known.status.results, ElementsAre("1 D"));
  EXPECT_EQ(known.status.failures[0].reason, "TrialDeleted");
  EXPECT_THAT(plan().create, IsEmpty());
}

TEST_F(PlanSweepTest, AJobThatIsBeingDeletedIsUnfinished) {
  sweep_.spec.parallel = 1;
  auto job = test::running(trial(0));
  job.metadata.deletion_timestamp = test::sweep_time(0);
  has(job);
  EXPECT_THAT(plan().create, IsEmpty());
}

TEST_F(PlanSweepTest, ATakenNameIsATrialThatFailed) {
  taken_ = {0};
  const auto planned = store();
  EXPECT_THAT(planned.status.results, ElementsAre("0 F"));
  EXPECT_EQ(planned.status.failures[0].reason, "NameConflict");
  EXPECT_EQ(planned.status.failures[0].message, "there is another GpuJob tune-0");
  EXPECT_EQ(planned.status.counts.created, 1);
}

TEST_F(PlanSweepTest, AnEditedSpecBeginsNoMoreTrials) {
  sweep_.spec.parallel = 1;
  has(test::running(trial(0)));
  store();
  const auto spec = sweep_.spec;
  sweep_.spec.parameters[0].integers->max = 9;
  sweep_.metadata.generation = 2;
  has(test::succeeded(trial(0), "0.5"));
  const auto planned = store();
  EXPECT_THAT(planned.create, IsEmpty());
  EXPECT_EQ(planned.status.reason, "SpecChanged");
  EXPECT_EQ(planned.status.phase, "Running");
  EXPECT_EQ(planned.status.counts.total, 4);
  EXPECT_THAT(planned.status.results, ElementsAre("0 S 0.5")) << "what runs is still recorded";
  sweep_.spec = spec;
  EXPECT_THAT(plan().create, ElementsAre(1));
  EXPECT_FALSE(api::is_true(plan().status.conditions, "Stalled"));
}

TEST_F(PlanSweepTest, SomeFieldsMayBeEdited) {
  const auto hash = sweep_.status.spec_hash;
  sweep_.spec.parallel = 7;
  sweep_.spec.max_failed = 3;
  sweep_.spec.suspend = true;
  sweep_.spec.objective->target = "1";
  EXPECT_EQ(api::spec_hash(sweep_.spec), hash);
}

TEST_F(PlanSweepTest, EveryOtherFieldIsPartOfTheHash) {
  const std::vector<std::function<void(api::GpuSweepSpec&)>> edits = {
      [](auto& spec) { spec.search.list.text = "{}"; },
      [](auto& spec) { spec.search.random = api::SweepRandom{4, 0}; },
      [](auto& spec) { spec.search.random = api::SweepRandom{4, 1}; },
      [](auto& spec) { spec.parameters[0].name = "rate"; },
      [](auto& spec) { spec.parameters[0].integers->min = 0; },
      [](auto& spec) { spec.parameters[0] = test::with_values("lr", {"1", "4"}); },
      [](auto& spec) { spec.parameters[0] = test::uniform("lr", "1", "4"); },
      [](auto& spec) { spec.parameters[0] = test::log_uniform("lr", "1", "4"); },
      [](auto& spec) { spec.objective.reset(); },
      [](auto& spec) { spec.objective->metric = "loss"; },
      [](auto& spec) { spec.objective->goal = "Maximize"; },
      [](auto& spec) { spec.objective->take = "Last"; },
      [](auto& spec) { spec.objective->missing = "Ignore"; },
      [](auto& spec) { spec.stopping.emplace().asha = api::SweepAsha{1, 9, 3}; },
      [](auto& spec) { spec.stopping.emplace().asha = api::SweepAsha{2, 9, 3}; },
      [](auto& spec) { spec.stopping.emplace().asha = api::SweepAsha{1, 8, 3}; },
      [](auto& spec) { spec.stopping.emplace().asha = api::SweepAsha{1, 9, 4}; },
      [](auto& spec) { spec.keep_jobs = "None"; },
      [](auto& spec) { spec.job.text = "{}"; },
  };
  std::set<std::string> hashes = {sweep_.status.spec_hash};
  for (const auto& edit : edits) {
    auto spec = sweep_.spec;
    edit(spec);
    hashes.insert(api::spec_hash(spec));
  }
  EXPECT_THAT(hashes, SizeIs(edits.size() + 1));
}

TEST_F(PlanSweepTest, SuspendsWhatRunsAndResumesIt) {
  sweep_.spec.parallel = 2;
  has(test::running(trial(0)));
  has(test::running(trial(1)));
  store();
  sweep_.spec.suspend = true;
  const auto suspended = store();
  EXPECT_THAT(names(suspended.suspend), ElementsAre("tune-0", "tune-1"));
  EXPECT_EQ(suspended.status.phase, "Suspended");
  EXPECT_TRUE(api::is_true(suspended.status.conditions, "Suspended"));
  EXPECT_THAT(plan().create, IsEmpty());
  auto asleep = trial(0);
  asleep.spec.suspend = true;
  has(asleep);
  has(test::succeeded(trial(1), "1"));
  EXPECT_THAT(store().status.results, ElementsAre("1 S 1")) << "it had ended before";
  sweep_.spec.suspend = false;
  const auto resumed = plan();
  EXPECT_THAT(names(resumed.resume), ElementsAre("tune-0"));
  EXPECT_EQ(resumed.status.phase, "Running");
  EXPECT_THAT(resumed.create, ElementsAre(2));
  sweep_.status = resumed.status;
  EXPECT_THAT(plan().resume, IsEmpty()) << "a job that a person suspends stays suspended";
}

TEST_F(PlanSweepTest, ShowsATrialThatCannotRun) {
  auto job = trial(1);
  job.status.phase = api::phase::kInvalid;
  job.status.reason = "PoolNotFound";
  job.status.message = "there is no GpuPool lab";
  has(job);
  const auto planned = plan();
  EXPECT_EQ(planned.status.phase, "Running");
  EXPECT_EQ(planned.status.reason, "PoolNotFound");
  EXPECT_EQ(planned.status.message, "trial 1 cannot run: there is no GpuPool lab");
  EXPECT_TRUE(api::is_true(planned.status.conditions, "Stalled"));
}

TEST_F(PlanSweepTest, ShowsWhyTheServerTakesNoMoreJobs) {
  problem_ = api::Problem{"QuotaExceeded", "exceeded quota"};
  has(trial(0));
  const auto planned = plan();
  EXPECT_EQ(planned.status.reason, "QuotaExceeded");
  EXPECT_THAT(planned.create, IsEmpty());
}

TEST_F(PlanSweepTest, KeepsJobsAsAsked) {
  has(test::succeeded(trial(0), "2"));
  has(test::succeeded(trial(1), "1"));
  has(test::failed(trial(2)));
  has(test::succeeded(trial(3), "3"));
  const std::vector<std::pair<const char*, std::vector<std::string>>> cases = {
      {"All", {}},
      {"Failed", {"tune-0", "tune-1", "tune-3"}},
      {"Best", {"tune-0", "tune-2", "tune-3"}},
      {"None", {"tune-0", "tune-1", "tune-2", "tune-3"}}};
  for (const auto& [keep, removed] : cases) {
    sweep_.status = {};
    sweep_.spec.keep_jobs = keep;
    store();
    EXPECT_THAT(store().remove, IsEmpty()) << "the results are not stored yet";
    EXPECT_EQ(names(plan().remove), removed) << keep;
  }
}

TEST_F(PlanSweepTest, SaysThatTheSpaceIsTooSmall) {
  sweep_ = test::make_sweep(4);
  sweep_.spec.search.random = api::SweepRandom{10, 0};
  store();
  EXPECT_EQ(sweep_.status.counts.total, 4);
  has(trial(0));
  EXPECT_THAT(plan().status.message, HasSubstr("only 4 combinations, so there are no more trials"));
}

TEST_F(PlanSweepTest, OnlyItsOwnJobsCount) {
  auto other = test::succeeded(trial(0), "0.5");
  other.metadata.owner_references[0].uid = "uid-other";
  has(other);
  EXPECT_THAT(plan().status.results, IsEmpty());
}

}  // namespace
}  // namespace gpupool::planning
