// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gpupool::bench::fair {

using Seconds = std::int64_t;  // of the simulated clock, which starts at 0
using JobId = std::size_t;     // index in Workload::jobs
inline constexpr Seconds kDay = 86400;
inline constexpr Seconds kNever = std::numeric_limits<Seconds>::max();

struct Job {
  std::size_t tenant = 0;  // index in Workload::tenants
  Seconds arrival = 0;
  std::int64_t gpus = 1;
  Seconds seconds = 1;  // how long it works in all; no policy looks at it
  Seconds bound = 0;    // of `seconds`, as its owner declares it; 0: none
  bool preemptible = false;
  Seconds checkpoint = 0;  // between two checkpoints; 0: it makes none
};

struct Tenant {
  std::string name;
  std::int64_t weight = 1;
  std::int64_t guaranteed = 0;  // GPUs
};

struct Workload {
  std::int64_t gpus = 0;  // of the cluster; each node has one
  std::vector<Tenant> tenants;
  std::vector<Job> jobs;  // in order of arrival
};

// What policies and engine have in common. Defaults are those of the comparison in the README.
struct Settings {
  Seconds restart = 180;  // from the second start of a job until it works
  Seconds half_life = 604800;
  Seconds assumed = 86400;  // bound of jobs that declare none, for their order alone
  Seconds min_run = 3600;   // a job that yielded n times is a victim again after min_run x 2^min(n, 5)
  Seconds share_min_run = 3600;
  Seconds patience = 1800;
  std::int64_t margin_percent = 25;
  std::int64_t unyielding_percent = 200;
};

}  // namespace gpupool::bench::fair
