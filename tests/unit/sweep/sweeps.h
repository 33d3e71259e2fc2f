// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_sweep.h"

// Sweeps for tests, and the jobs of their trials.
namespace gpupool::test {

using Job = std::shared_ptr<const api::GpuJob>;

base::WallTime sweep_time(std::int64_t seconds);

// A parameter with these values.
api::SweepParameter with_values(const std::string& name, std::vector<std::string> values);
api::SweepParameter with_integers(const std::string& name, std::int64_t min, std::int64_t max);
api::SweepParameter uniform(const std::string& name, const std::string& min, const std::string& max);
api::SweepParameter log_uniform(const std::string& name, const std::string& min, const std::string& max);

// A valid sweep "tune" in namespace "ns": a grid of the parameter lr with this many values, that minimizes
// val/loss. Its UID is "uid-tune".
api::GpuSweep make_sweep(std::int64_t trials = 4);

// The job of a trial as the server stores it, without a status.
api::GpuJob make_trial(const api::GpuSweep& sweep, std::int64_t trial);
api::GpuJob running(api::GpuJob job);
// Succeeded; without a value the metric never came.
api::GpuJob succeeded(api::GpuJob job, const std::string& value = "");
api::GpuJob failed(api::GpuJob job, const std::string& reason = "BackoffLimitExceeded");
Job shared(api::GpuJob job);

}  // namespace gpupool::test
