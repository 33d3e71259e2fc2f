// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/leases.h"

#include <utility>

namespace gpupool::bench::fair {

Leases::Leases(const Workload& workload, const Settings& settings)
    : workload_(workload),
      unyielding_percent_(settings.unyielding_percent),
      ledger_(workload.tenants.size(), settings.half_life),
      covered_(workload.jobs.size()),
      covered_gpus_(workload.tenants.size()),
      uncovered_(workload.tenants.size()) {}

void Leases::cover(const Cluster& cluster, std::size_t tenant) {
  std::erase_if(uncovered_[tenant], [&](const auto& lease) {
    const auto gpus = cluster.job(lease.second).gpus;
    if (covered_gpus_[tenant] + gpus > workload_.tenants[tenant].guaranteed) return false;
    covered_gpus_[tenant] += gpus;
    covered_[lease.second] = true;
    return true;
  });
}

// What cannot be taken back counts more, beyond the guarantee.
void Leases::charge(const Cluster& cluster, std::size_t tenant) {
  std::int64_t unyielding = 0;
  for (const auto& [since, id] : uncovered_[tenant])
    unyielding += cluster.job(id).preemptible ? 0 : cluster.job(id).gpus;
  ledger_.set_rate(tenant,
                   cluster.held(tenant) * kMilli + unyielding * kMilli * (unyielding_percent_ - 100) / 100);
}

void Leases::started(const Cluster& cluster, JobId id) {
  const auto tenant = cluster.job(id).tenant;
  uncovered_[tenant].emplace(cluster.state(id).since, id);
  cover(cluster, tenant);
  charge(cluster, tenant);
}

void Leases::ended(const Cluster& cluster, JobId id) {
  const auto tenant = cluster.job(id).tenant;
  if (covered_[id]) {
    covered_gpus_[tenant] -= cluster.job(id).gpus;
    covered_[id] = false;
  } else {
    std::erase_if(uncovered_[tenant], [&](const auto& lease) { return lease.second == id; });
  }
  cover(cluster, tenant);
  charge(cluster, tenant);
}

}  // namespace gpupool::bench::fair
