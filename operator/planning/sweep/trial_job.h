// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "api/v1alpha1/problem.h"
#include "planning/sweep/trial_space.h"

namespace gpupool::planning {

// Environment variables of every container of a trial: the value of a parameter, by its name in capitals, and
// the index of the trial.
inline constexpr char kParameterVariable[] = "GPUPOOL_PARAM_";
inline constexpr char kTrialVariable[] = "GPUPOOL_TRIAL";

std::string trial_job_name(const std::string& sweep, std::int64_t trial);
// Returns the index of the trial of which this is the job; nothing if the sweep does not control the job.
std::optional<std::int64_t> trial_of(const api::GpuJob& job, const api::GpuSweep& sweep);

// True if the job was made by another sweep of the same name, so that it will be deleted soon.
bool is_of_earlier_sweep(const api::GpuJob& job, const api::GpuSweep& sweep);

// Returns the GpuJob of a trial as JSON. $(name) is replaced in command, args and values of env of all
// containers, where one argument stays one argument, and in all texts of source and results. REQUIRES: the
// sweep is valid.
std::string trial_job(const api::GpuSweep& sweep, std::int64_t trial, const TrialParameters& parameters);

// Returns a field of spec.job that a GpuJob does not have; empty if there is none. The server would drop it
// from the jobs without a word.
std::string unknown_job_field(const api::GpuSweepSpec& spec);

// Returns a problem if a container refers to a name that is neither a parameter nor a variable of the
// container, or sets a variable that trials get. A container with envFrom may refer to any name.
std::optional<api::Problem> check_references(const api::GpuSweepSpec& spec);

}  // namespace gpupool::planning
