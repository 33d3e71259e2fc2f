// SPDX-License-Identifier: Apache-2.0
// Sweeps of which the operator dies before or after any request: each trial has one job, and each has a
// result.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "planning/sweep/plan_sweep.h"
#include "planning/sweep/trial_job.h"
#include "planning/sweep/trial_result.h"
#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {
namespace {

// The server, and an operator that executes plans as controllers/sweep does and may die at any request. Jobs
// end by themselves.
class SweepWorld {
 public:
  SweepWorld(std::int64_t trials, std::int64_t parallel, const std::string& keep) {
    sweep_ = test::make_sweep(trials);
    sweep_.spec.parallel = parallel;
    sweep_.spec.keep_jobs = keep;
  }

  bool ended() const { return sweep_.finished(); }
  const api::GpuSweepStatus& status() const { return sweep_.status; }
  const std::map<std::int64_t, int>& begun() const { return begun_; }
  std::size_t jobs() const { return jobs_.size(); }

  // Carries out a plan until the request with this number, counted from 0.
  void reconcile(int requests) {
    const TrialSpace space(sweep_.spec);
    const auto look = [&] {
      std::vector<test::Job> jobs;
      for (const auto& [trial, job] : jobs_) jobs.push_back(test::shared(job));
      return plan_sweep({.sweep = sweep_, .jobs = jobs, .space = &space, .gone = {}, .taken = {}, .now = {}});
    };
    auto plan = look();
    RC_ASSERT(plan.look_up.empty());
    for (const auto trial : plan.create) {
      if (requests-- == 0) return;
      create(trial);
    }
    plan = look();
    for (const auto& job : plan.remove) {
      if (requests-- == 0) return;
      jobs_.erase(*trial_of(*job, sweep_));
    }
    if (requests-- == 0) return;
    sweep_.status = plan.status;
  }

  void end_job(std::int64_t which) {
    std::vector<std::int64_t> unfinished;
    for (const auto& [trial, job] : jobs_) {
      if (!job.finished()) unfinished.push_back(trial);
    }
    if (unfinished.empty()) return;
    const auto trial = unfinished[static_cast<std::size_t>(which) % unfinished.size()];
    auto& job = jobs_.at(trial);
    job = trial % 5 == 4 ? test::failed(job) : test::succeeded(job, std::to_string(trial));
  }

 private:
  void create(std::int64_t trial) {
    if (jobs_.contains(trial)) return;  // AlreadyExists
    ++begun_[trial];
    jobs_.emplace(trial, test::make_trial(sweep_, trial));
    std::int64_t unfinished = 0;
    for (const auto& [index, job] : jobs_) unfinished += job.finished() ? 0 : 1;
    RC_ASSERT(unfinished <= sweep_.spec.parallel);
  }

  api::GpuSweep sweep_;
  std::map<std::int64_t, api::GpuJob> jobs_;
  std::map<std::int64_t, int> begun_;
};

RC_GTEST_PROP(SweepCrash, EachTrialRunsOnceAndNoneIsLost, ()) {
  const auto trials = *rc::gen::inRange<std::int64_t>(1, 25);
  const auto parallel = *rc::gen::inRange<std::int64_t>(1, 10);
  const auto keep = *rc::gen::element<std::string>("All", "Failed", "Best", "None");
  SweepWorld world(trials, parallel, keep);
  for (int i = 0; i < 200 && !world.ended(); ++i) {
    if (*rc::gen::inRange(0, 3) == 0) {
      world.end_job(*rc::gen::inRange<std::int64_t>(0, 100));
    } else {
      world.reconcile(*rc::gen::inRange(0, 12));
    }
  }
  for (int i = 0; i < 100 && !world.ended(); ++i) {  // without crashes
    world.end_job(0);
    world.reconcile(100);
  }
  RC_ASSERT(world.ended());
  world.reconcile(100);
  RC_ASSERT(world.begun().size() == static_cast<std::size_t>(trials));
  for (const auto& [trial, times] : world.begun()) RC_ASSERT(times == 1);
  const auto results = parse_results(world.status().results);
  RC_ASSERT(results.size() == static_cast<std::size_t>(trials));
  for (const auto& [trial, result] : results) {
    RC_ASSERT(result.state == (trial % 5 == 4 ? 'F' : 'S'));
    RC_ASSERT(result.value == (trial % 5 == 4 ? "" : std::to_string(trial)));
  }
  const auto failed = static_cast<std::size_t>(trials / 5);
  const auto total = static_cast<std::size_t>(trials);
  RC_ASSERT(world.jobs() == (keep == "All" ? total : keep == "Failed" ? failed : keep == "Best" ? 1U : 0U));
}

}  // namespace
}  // namespace gpupool::planning
