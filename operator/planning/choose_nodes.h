#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/node_gpus.h"

namespace gpupool::planning {

// How many workers of this size fit on the node.
std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker);

// The nodes for `workers` workers such that the fewest GPUs idle, then the fewest nodes, then the first
// names. None if they do not fit. Exact: a knapsack over the slots, O(candidates x workers).
std::optional<std::vector<const PoolNode*>> choose_nodes(std::vector<const PoolNode*> candidates,
                                                         std::int64_t workers, std::int64_t gpus_per_worker);

// The same, never with two GPU models in one choice; of several models, the one that idles least.
std::optional<std::vector<const PoolNode*>> choose_nodes_of_one_model(
    const std::vector<const PoolNode*>& candidates, std::int64_t workers, std::int64_t gpus_per_worker);

}  // namespace gpupool::planning
