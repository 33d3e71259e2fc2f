// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/node_gpus.h"

namespace gpupool::planning {

// Returns nodes for a job that has lost some, or has to leave some: keeps `kept` and adds free nodes, near
// these if spec.near of the job or pool asks for it, and spares only if no other node is as near. A job with
// spec.nodes gets some of these or of spec.backupNodes, the first that can be used. Empty if there are too
// few. nodes: the pool's members in order of name, including `kept`.
std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept);

}  // namespace gpupool::planning
