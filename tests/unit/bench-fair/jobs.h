// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/fair/engine/engine.h"
#include "bench/fair/policies/policies.h"

// Small workloads of the simulator.
namespace gpupool::bench::fair {

// `tenants` with the same guarantee each.
inline Workload make_workload(std::int64_t gpus, std::size_t tenants, std::vector<Job> jobs,
                              std::int64_t guaranteed = 0) {
  Workload workload{.gpus = gpus, .tenants = {}, .jobs = std::move(jobs)};
  for (std::size_t i = 0; i < tenants; ++i)
    workload.tenants.push_back({"t" + std::to_string(i), 1, guaranteed});
  return workload;
}

inline Outcome play(const std::string& policy, const Workload& workload, const Settings& settings = {}) {
  const auto made = make_policy(policy, workload, settings);
  return simulate(workload, settings, *made);
}

// When each job started the first time.
inline std::vector<Seconds> starts(const Workload& workload, const Outcome& outcome) {
  std::vector<Seconds> found;
  for (JobId id = 0; id < workload.jobs.size(); ++id)
    found.push_back(workload.jobs[id].arrival + outcome.jobs[id].first_wait);
  return found;
}

}  // namespace gpupool::bench::fair
