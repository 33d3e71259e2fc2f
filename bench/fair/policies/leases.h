// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "bench/fair/engine/cluster.h"
#include "bench/fair/policies/ledger.h"

namespace gpupool::bench::fair {

// What the tenants hold, what of it their guarantees cover, and what they have used. A lease is covered if
// the guarantee has room for all of it when it starts, or later, the oldest first. Not thread-safe.
class Leases {
 public:
  Leases(const Workload& workload, const Settings& settings);

  void advance(Seconds now) { ledger_.advance(now); }
  // REQUIRES: the cluster has done it already, and advance() was called with its time.
  void started(const Cluster& cluster, JobId id);
  void ended(const Cluster& cluster, JobId id);

  bool covered(JobId id) const { return covered_[id]; }
  // Compared by tenants' keys: half of it is what it held lately, half what it holds now and `more` GPUs.
  std::int64_t key(const Cluster& cluster, std::size_t tenant, std::int64_t more = 0) const {
    return ledger_.usage(tenant) + (cluster.held(tenant) + more) * kMilli * ledger_.memory();
  }

 private:
  void cover(const Cluster& cluster, std::size_t tenant);
  void charge(const Cluster& cluster, std::size_t tenant);

  const Workload& workload_;
  std::int64_t unyielding_percent_;
  Ledger ledger_;
  std::vector<bool> covered_;                                   // by job
  std::vector<std::int64_t> covered_gpus_;                      // by tenant
  std::vector<std::set<std::pair<Seconds, JobId>>> uncovered_;  // by tenant, the oldest lease first
};

}  // namespace gpupool::bench::fair
