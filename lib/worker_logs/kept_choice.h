// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "worker_logs/attempts.h"
#include "worker_logs/kept_logs.h"

namespace gpupool::logs {

// Whether what is wanted of a job may be at the keeper alone. leases: those of which there are pods. Pure.
bool needs_keeper(const api::GpuJob& job, const std::map<std::int64_t, Attempt>& attempts,
                  const Wanted& wanted);

// The attempts to show from the keeper, oldest first: what is wanted and has no pods. kept: newest first, of
// one job. Pure.
std::vector<KeptAttempt> choose_kept(const std::vector<KeptAttempt>& kept,
                                     const std::map<std::int64_t, Attempt>& attempts, const Wanted& wanted);

}  // namespace gpupool::logs
