// SPDX-License-Identifier: Apache-2.0
// Sweeps of which the operator dies before or after any request: each trial has one job, and each has a
// result.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
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

  void stop_losers() { sweep_.spec.stopping.emplace().asha = api::SweepAsha{1, 27, 3}; }

  // Carries out a plan until the request with this number, counted from 0. What the workers of trials that
  // run have told is known to every operator, of others only to one that has asked in time.
  void reconcile(int requests, bool has_asked = true) {
    const TrialSpace space(sweep_.spec);
    const auto look = [&] {
      std::vector<test::Job> jobs;
      for (const auto& [trial, job] : jobs_) jobs.push_back(test::shared(job));
      auto live = live_;
      std::erase_if(live, [&](const auto& entry) {
        const auto job = jobs_.find(entry.first);
        return !has_asked && (job == jobs_.end() || job->second.finished());
      });
      return plan_sweep({.sweep = sweep_, .jobs = jobs, .space = &space, .live = live, .now = {}});
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
    check_stopped(plan.status);
    sweep_.status = plan.status;
  }

  // A trial that runs reaches its next rung.
  void reach_rung(std::int64_t which, double value) {
    const auto trial = unfinished(which);
    if (trial && live_[*trial].size() < 3) live_[*trial].push_back(value);
  }

  void end_job(std::int64_t which) {
    const auto trial = unfinished(which);
    if (!trial) return;
    auto& job = jobs_.at(*trial);
    job = *trial % 5 == 4 ? test::failed(job) : test::succeeded(job, std::to_string(*trial));
  }

 private:
  std::optional<std::int64_t> unfinished(std::int64_t which) const {
    std::vector<std::int64_t> trials;
    for (const auto& [trial, job] : jobs_) {
      if (!job.finished()) trials.push_back(trial);
    }
    if (trials.empty()) return std::nullopt;
    return trials[static_cast<std::size_t>(which) % trials.size()];
  }

  // No result is taken back, and only a trial that has reached a rung was stopped.
  void check_stopped(const api::GpuSweepStatus& after) const {
    const auto results = parse_results(after.results);
    for (const auto& [trial, result] : parse_results(sweep_.status.results))
      RC_ASSERT(results.contains(trial) && results.at(trial) == result);
    for (const auto& [trial, result] : results) {
      if (result.state != 'X') continue;
      const auto& reached = live_.at(trial);  // more of them, if it runs a little longer
      RC_ASSERT(!result.rungs.empty() && result.rungs.size() <= reached.size());
      RC_ASSERT(std::equal(result.rungs.begin(), result.rungs.end(), reached.begin()));
    }
  }

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
  std::map<std::int64_t, RungValues> live_;
};

// Runs it to its end; each trial has begun once.
void end_without_crashes(SweepWorld& world, std::int64_t trials) {
  for (int i = 0; i < 100 && !world.ended(); ++i) {
    world.end_job(0);
    world.reconcile(100);
  }
  RC_ASSERT(world.ended());
  world.reconcile(100);
  RC_ASSERT(world.begun().size() == static_cast<std::size_t>(trials));
  for (const auto& [trial, times] : world.begun()) RC_ASSERT(times == 1);
}

RC_GTEST_PROP(SweepCrash, LosersAreStoppedOnceAndNoneIsLost, ()) {
  const auto trials = *rc::gen::inRange<std::int64_t>(1, 25);
  SweepWorld world(trials, *rc::gen::inRange<std::int64_t>(1, 10), "None");
  world.stop_losers();
  for (int i = 0; i < 200 && !world.ended(); ++i) {
    const auto which = *rc::gen::inRange<std::int64_t>(0, 100);
    const auto what = *rc::gen::inRange(0, 5);
    if (what == 0) {
      world.end_job(which);
    } else if (what < 3) {
      world.reach_rung(which, *rc::gen::inRange(0, 10));
    } else {
      world.reconcile(*rc::gen::inRange(0, 12), *rc::gen::arbitrary<bool>());
    }
  }
  end_without_crashes(world, trials);
  RC_ASSERT(world.status().results.size() == static_cast<std::size_t>(trials));
  RC_ASSERT(world.jobs() == 0U);
}

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
  end_without_crashes(world, trials);
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
