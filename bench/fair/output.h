// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/fair/metrics/figures.h"

namespace gpupool::bench::fair {

// How one policy did.
struct Played {
  std::string policy;
  std::vector<Figure> figures;
  std::vector<double> pass_ms;
  std::vector<double> waiting;   // jobs, average of each window
  std::vector<double> fairness;  // of each contested window; -1 of others
  std::vector<double> wait;      // mean of each tenant's jobs, in hours
};

Played describe(const std::string& policy, const Workload& workload, const Outcome& outcome);

// Prints one JSON object: `results` as Results::print(), for bench/run, and `series` by policy for plots, and
// the names of the `tenants`, in the order of `wait`.
void print(const Workload& workload, const std::vector<Played>& played);

}  // namespace gpupool::bench::fair
