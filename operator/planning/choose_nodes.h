#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "planning/node_gpus.h"

namespace gpupool::planning {

// How many workers of this size fit on the node.
std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker);

// Of a choice: the GPUs that it takes, then the nodes. The lowest is the best.
std::pair<std::int64_t, std::int64_t> cost_of(const std::vector<const PoolNode*>& nodes);

// The nodes for `workers` workers such that the fewest GPUs idle, then the fewest nodes, then the first
// names. None if they do not fit. Exact: a knapsack over the slots, O(candidates x workers).
std::optional<std::vector<const PoolNode*>> choose_nodes(std::vector<const PoolNode*> candidates,
                                                         std::int64_t workers, std::int64_t gpus_per_worker);

// The same, never with two GPU models in one choice; of several models, the one that idles least.
std::optional<std::vector<const PoolNode*>> choose_nodes_of_one_model(
    const std::vector<const PoolNode*>& candidates, std::int64_t workers, std::int64_t gpus_per_worker);

// One or the other, as spec.gpus.homogeneous of the pool says.
std::optional<std::vector<const PoolNode*>> choose_nodes_of(const api::PoolGpus& wanted,
                                                            const std::vector<const PoolNode*>& candidates,
                                                            std::int64_t workers,
                                                            std::int64_t gpus_per_worker);

// As a lease names them: in order of name.
std::vector<api::NodeRef> references(const std::vector<const PoolNode*>& nodes);

}  // namespace gpupool::planning
