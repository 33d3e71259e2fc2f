// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/fair/engine/policy.h"
#include "planning/queue/pool_state.h"
#include "planning/tenants/tenant_book.h"

namespace gpupool::bench::fair {

// The operator's own planning of an exclusive pool, with a node of one GPU for each GPU of the cluster, and a
// worker on each. Does what PoolQueue and the reconciler of jobs do with it, without an API server.
class PoolPolicy final : public Policy {
 public:
  // pool: of make_pool_object() or make_queue_pool_object(). REQUIRES: the workload outlives the policy.
  PoolPolicy(const Workload& workload, api::GpuPool pool);

  void arrived(JobId id) override;
  void ended(JobId id) override;
  void decide(Actions& actions) override;
  Seconds wakes_at() const override;

 private:
  using Job = std::shared_ptr<const api::GpuJob>;
  // The job that was told that it is first in line.
  struct First {
    JobId id;
    Seconds latest;       // start, as it was told
    bool passed = false;  // by a job within the guarantee of its tenant, which may make it later
  };

  void put_waiting(JobId id, const Job& job);
  void hold(const std::vector<api::NodeRef>& nodes, int holders);
  void take(Actions& actions, const Job& job, const planning::Verdict& verdict);
  void make_room(Actions& actions, const planning::YieldClaim& claim);
  void put_hold(const Cluster& cluster, JobId id, const planning::Verdict& verdict);
  void tell(Actions& actions, const Job& job, const planning::Verdict& verdict);
  void note_first(Actions& actions, JobId id, const api::JobQueueStatus& turn);

  const Workload& workload_;
  std::shared_ptr<const api::GpuPool> pool_;
  std::unique_ptr<planning::TenantBook> book_;  // null without spec.queue
  planning::PoolState state_;
  std::map<JobId, std::vector<api::NodeRef>> leases_;
  std::vector<JobId> ended_;  // since the last pass
  std::optional<First> first_;
};

// A pool that jobs can use, without spec.queue.
api::GpuPool make_pool_object();
// With spec.queue: the tenants of the workload, each with one namespace.
// to_share: QueueYield::to_share.
api::GpuPool make_queue_pool_object(const Workload& workload, const Settings& settings,
                                    bool to_share = false);

}  // namespace gpupool::bench::fair
