// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/fair/engine/cluster.h"
#include "bench/fair/policies/leases.h"

namespace gpupool::bench::fair {

enum class YieldRule { kToGuarantee, kToShare };

// A waiting job that does not get its GPUs, and how many of them yielded ones have to be.
struct Claim {
  JobId id;
  std::int64_t missing;
  YieldRule rule;
};

// When a running job may be a victim of the rule for time's sake.
Seconds guard_end(const Cluster& cluster, const Settings& settings, JobId id, YieldRule rule);

// The jobs that yield to the claim; empty if none may, or those that may do not suffice.
std::vector<JobId> reference_victims(const Cluster& cluster, const Leases& leases, const Settings& settings,
                                     const Claim& claim);

}  // namespace gpupool::bench::fair
