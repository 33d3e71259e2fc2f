// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "api/v1alpha1/problem.h"
#include "planning/job/template_fields.h"
#include "planning/sweep/trial_result.h"
#include "planning/sweep/trial_space.h"

namespace gpupool::planning {

// What is known of a sweep. REQUIRES: what is referenced outlives this.
struct SweepObservation {
  const api::GpuSweep& sweep;
  std::vector<std::shared_ptr<const api::GpuJob>> jobs = {};  // of its trials
  const TrialSpace* space = nullptr;                          // of its spec; null if the spec is invalid
  // Why the spec is invalid, or why the server refuses the jobs of trials.
  std::optional<api::Problem> problem = std::nullopt;
  std::set<std::int64_t> gone = {};   // the server has no job of these trials, which have had one
  std::set<std::int64_t> taken = {};  // the job of another owner has the name of these trials' jobs
  // What the workers of trials have told while they ran; of trials that have no result yet.
  std::map<std::int64_t, RungValues> live = {};
  std::string live_trouble = {};  // why no worker can be asked; empty: none known
  base::WallTime now = {};
};

// What to do next. The status comes first: a job is only removed when its result is in the status that the
// server has. All of it can be repeated.
struct SweepPlan {
  api::GpuSweepStatus status;              // to be written if it differs
  std::vector<std::int64_t> create = {};   // trials to begin, in order
  std::vector<std::int64_t> look_up = {};  // had a job that is not in the cache: ask the server
  std::vector<std::shared_ptr<const api::GpuJob>> remove = {};
  std::vector<std::shared_ptr<const api::GpuJob>> suspend = {};
  std::vector<std::shared_ptr<const api::GpuJob>> resume = {};
};

SweepPlan plan_sweep(const SweepObservation& seen);

}  // namespace gpupool::planning
