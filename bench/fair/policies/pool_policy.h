// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/fair/engine/policy.h"
#include "planning/queue/pool_state.h"

namespace gpupool::bench::fair {

// The operator's own planning of an exclusive pool, with a node of one GPU for each GPU of the cluster, and a
// worker on each. Does what PoolQueue does with it, without an API server.
class PoolPolicy final : public Policy {
 public:
  // pool: what make_pool_object() made, with what else its spec has to say. REQUIRES: the workload outlives
  // it.
  PoolPolicy(const Workload& workload, api::GpuPool pool);

  void arrived(JobId id) override;
  void ended(JobId id) override;
  void decide(Actions& actions) override;

 private:
  void hold(const std::vector<api::NodeRef>& nodes, int holders);

  const Workload& workload_;
  planning::PoolState state_;
  std::map<JobId, std::vector<api::NodeRef>> leases_;
};

// A pool that jobs can use, without spec.queue.
api::GpuPool make_pool_object();

}  // namespace gpupool::bench::fair
