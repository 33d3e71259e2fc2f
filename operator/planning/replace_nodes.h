#pragma once

#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/node_gpus.h"

namespace gpupool::planning {

// Nodes for a job that lost some: keeps `kept` and adds what is missing from the free ones. Empty if there
// are too few. nodes: the pool's members in order of name, and `kept`.
std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept);

}  // namespace gpupool::planning
