// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "bench/fair/engine/policy.h"

namespace gpupool::bench::fair {

// As Kueue with one ClusterQueue a tenant in one cohort: the quota is the guarantee, the rest of the GPUs may
// be borrowed, fair sharing decides whose head comes first and who is preempted (LessThanOrEqualToFinalShare,
// then LessThanInitialShare), and a head that does not fit lets the next of its queue try (BestEffortFIFO).
// No minimum run time. It does not look at checkpoints, which Kueue does not know.
class KueueLike final : public Policy {
 public:
  explicit KueueLike(const Workload& workload);

  void arrived(JobId id) override;
  void ended(JobId) override {}
  void decide(Actions& actions) override;
  Seconds wakes_at() const override;

 private:
  struct Queue {
    std::map<std::int64_t, std::set<JobId>> by_gpus;
    std::set<std::int64_t> inadmissible;  // sizes, until something changes
  };

  std::vector<JobId> heads(const Cluster& cluster) const;
  bool admit(Actions& actions, JobId id);
  void remove(JobId id);

  std::vector<Queue> queues_;  // by tenant
  const std::vector<Job>& jobs_;
  std::vector<std::pair<Seconds, JobId>>
      ending_;  // preempted, and when their pods have ended: they wait then
};

}  // namespace gpupool::bench::fair
