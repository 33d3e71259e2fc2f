// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/fair/engine/cluster.h"

namespace gpupool::bench::fair {

// What a tenant that holds this number of GPUs has borrowed. Kueue divides it by the cohort's GPUs and by the
// weight; all weights are 1 here.
inline std::int64_t borrowed(const Cluster& cluster, std::size_t tenant, std::int64_t held) {
  return std::max<std::int64_t>(0, held - cluster.workload().tenants[tenant].guaranteed);
}

// The jobs that Kueue's fair sharing preempts for this one; empty if none suffice.
std::vector<JobId> kueue_victims(const Cluster& cluster, JobId claimant);

}  // namespace gpupool::bench::fair
