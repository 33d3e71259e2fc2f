// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "planning/sweep/trial_result.h"
#include "planning/sweep/trial_space.h"

namespace gpupool::sweeps {

// A trial of a sweep, as far as its sweep and its job tell. Texts are of anybody.
struct SeenTrial {
  std::int64_t index = 0;
  std::string job = {};  // its name, whether it exists or not
  // Succeeded, NoValue, Failed, Deleted or Stopped; before that the phase of its job, or Begun if that is not
  // known; Waiting before it has a job.
  std::string state = {};
  std::string reason = {};                    // of its job
  std::string value = {};                     // of the objective; empty: none
  planning::RungValues rungs = {};            // of the objective, of a sweep that stops trials early
  planning::TrialParameters parameters = {};  // empty if they are not known
  std::vector<api::JobMetric> metrics = {};   // empty if the job is not known, or reported none
};

// All trials of a sweep, by index.
struct SeenTrials {
  std::vector<SeenTrial> trials;
  std::string unknown;  // why the parameters are not known; empty: they are
};

// jobs: those of the sweep that exist and may be read. Pure.
SeenTrials see_trials(const api::GpuSweep& sweep, const std::vector<api::GpuJob>& jobs);

// Best first by the objective; those without a value follow, by index.
void sort_by_value(std::vector<SeenTrial>& trials, const api::SweepObjective& objective);

}  // namespace gpupool::sweeps
