// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/fair/engine/cluster.h"
#include "bench/fair/engine/policy.h"
#include "bench/fair/metrics/windows.h"

namespace gpupool::bench::fair {

// How a policy did.
struct Outcome {
  std::vector<Cluster::State> jobs;  // as Workload::jobs; all are done
  std::vector<Window> windows;
  std::int64_t promises = 0;
  std::int64_t broken_promises = 0;
  std::vector<double> pass_ms;  // real time of each decide(); the only value that the machine decides
};

// Plays the workload to its end on a clock of its own. Throws std::logic_error if the policy starts or stops
// what it may not, or leaves jobs waiting for ever.
Outcome simulate(const Workload& workload, const Settings& settings, Policy& policy);

}  // namespace gpupool::bench::fair
