// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/membership.h"
#include "planning/nodes/node_gpus.h"
#include "planning/slices/shared_node.h"

namespace gpupool::planning {

// The jobs of a pool; names as namespace/name.
struct PoolJobs {
  std::vector<std::string> holding;  // jobs with a lease
  std::int64_t queued = 0;
  std::vector<api::DrainingNode> draining = {};  // nodes that jobs have to leave (draining_nodes.h)
  base::Boxed<api::QueueStatus> queue = {};      // with spec.queue
};

// Returns the status of an exclusive pool. nodes: its members; `leased` is set on all that are held.
api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<PoolNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now);
// Returns the status of a sharing pool. nodes: its members with all claims.
api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<SharedNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now);

// True if the status differs from the stored one in more than what changes with time alone:
// status.queue.asOf, and what tenants have used. That is written with the next other change.
bool is_news(const api::GpuPoolStatus& status, const api::GpuPoolStatus& stored);

}  // namespace gpupool::planning
