// SPDX-License-Identifier: Apache-2.0
// What the jobs of a pool ask for, and what they pay for it at most. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "planning/demand/demand_price.h"
#include "planning/forecast/estimates.h"

namespace gpupool::planning {

// Jobs that came within this time are bids, and jobs that still wait.
inline constexpr auto kBidWindow = std::chrono::hours(6);
// What a job counts for if neither its kind's history nor a deadline tells how long it will run.
inline constexpr auto kUnknownLength = std::chrono::hours(1);

// Returns the bids in the pool: jobs with a valid spec.maxPricePerGpuHour, except suspended ones and those
// that ended without having run. Their GPU-seconds are those of what the pool hands out: nodes, GPUs or
// slices; a job that asks for memory or cores counts as one slice a worker until it holds some. jobs: of all
// pools. estimates: made at `now`.
std::vector<Bid> bids_of(const api::GpuPool& pool,
                         const std::vector<std::shared_ptr<const api::GpuJob>>& jobs, Estimates& estimates,
                         base::WallTime now);

// Returns what the pool can hand out in kBidWindow, in the same unit.
std::int64_t capacity_of(const api::GpuPool& pool, const api::GpuPoolStatus& counts);

}  // namespace gpupool::planning
