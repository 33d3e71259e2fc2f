// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "planning/sweep/plan_sweep.h"
#include "tests/unit/sweep/sweeps.h"

namespace gpupool::planning {

// A sweep, its jobs, and what else is known of it.
class PlanSweepTest : public testing::Test {
 protected:
  PlanSweepTest() { begin(4); }
  // A sweep that has begun: the server has the status of the start.
  void begin(std::int64_t trials) {
    sweep_ = test::make_sweep(trials);
    jobs_.clear();
    store();
  }
  SweepPlan plan() {
    const TrialSpace space(sweep_.spec);
    return plan_sweep({.sweep = sweep_,
                       .jobs = jobs_,
                       .space = &space,
                       .problem = problem_,
                       .gone = gone_,
                       .taken = taken_,
                       .live = live_,
                       .live_trouble = live_trouble_,
                       .now = test::sweep_time(++now_)});
  }
  // The server gets the planned status.
  SweepPlan store() {
    auto planned = plan();
    sweep_.status = planned.status;
    return planned;
  }
  api::GpuJob trial(std::int64_t index) const { return test::make_trial(sweep_, index); }
  void has(api::GpuJob job) {
    std::erase_if(jobs_, [&](const auto& other) { return other->metadata.name == job.metadata.name; });
    jobs_.push_back(test::shared(std::move(job)));
  }
  static std::vector<std::string> names(const std::vector<test::Job>& jobs) {
    std::vector<std::string> all;
    for (const auto& job : jobs) all.push_back(job->metadata.name);
    return all;
  }

  api::GpuSweep sweep_;
  std::vector<test::Job> jobs_;
  std::optional<api::Problem> problem_;
  std::set<std::int64_t> gone_;
  std::set<std::int64_t> taken_;
  std::map<std::int64_t, RungValues> live_;
  std::string live_trouble_;
  std::int64_t now_ = 0;
};

}  // namespace gpupool::planning
