#pragma once

#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/job_validation.h"
#include "planning/membership.h"
#include "planning/node_gpus.h"
#include "planning/shared_node.h"

namespace gpupool::planning {

// Empty, or why no job can be given nodes of this pool until a person mends its spec.
std::optional<Problem> validate_pool(const api::GpuPool& pool);

// jobs: names of the pool's jobs, as namespace/name.
struct PoolJobs {
  std::vector<std::string> holding;  // with a lease
  std::int64_t queued = 0;
};

// The status a pool should show. nodes: its members with `leased` set for everything held.
api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<PoolNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now);
// Of a sharing pool. nodes: its members with everything claimed on them.
api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<SharedNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now);

}  // namespace gpupool::planning
