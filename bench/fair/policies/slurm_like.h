// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/fair/engine/policy.h"
#include "bench/fair/policies/ledger.h"

namespace gpupool::bench::fair {

// As Slurm with fair tree and EASY backfill: the tenant with the least decayed usage for its weight comes
// first, with all its jobs, the oldest first. Each change starts jobs in this order until one does not fit;
// each 30 s the first 100 jobs are examined for backfill. Nobody yields.
class SlurmLike final : public Policy {
 public:
  SlurmLike(const Workload& workload, const Settings& settings);

  void arrived(JobId id) override;
  void ended(JobId id) override;
  void decide(Actions& actions) override;
  Seconds wakes_at() const override { return next_backfill_; }

 private:
  std::vector<JobId> in_order(const Cluster& cluster) const;
  void backfill(Actions& actions, const std::vector<JobId>& order, std::size_t first_blocked);

  Ledger ledger_;
  bool changed_ = false;  // since the last backfill
  Seconds next_backfill_ = kNever;
};

}  // namespace gpupool::bench::fair
