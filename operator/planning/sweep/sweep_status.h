// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_sweep.h"
#include "api/v1alpha1/problem.h"
#include "planning/sweep/trial_result.h"
#include "planning/sweep/trial_space.h"

namespace gpupool::planning {

inline constexpr std::size_t kTopTrials = 10;
inline constexpr std::size_t kShownFailures = 5;

// Sets counts, progress, results, best and top. created: see SweepCounts. space: null if the spec has
// changed since the sweep began; then the total and the parameters that are known stay.
void show_results(api::GpuSweepStatus& status, const api::GpuSweep& sweep, const TrialResults& results,
                  std::int64_t created, const TrialSpace* space);

// Adds a failure; the oldest ones go.
void show_failure(api::GpuSweepStatus& status, std::int64_t trial, const JudgedTrial& judged);

// Makes conditions, reason and message consistent with the phase: those of kstatus (Reconciling, Stalled) and
// of batch/v1 (Complete, Failed, Suspended), as for a GpuJob. Every status that is written passes through
// this function. stalled: why a person must act.
void settle_status(api::GpuSweepStatus& status, std::int64_t generation,
                   const std::optional<api::Problem>& stalled, base::WallTime now);

}  // namespace gpupool::planning
