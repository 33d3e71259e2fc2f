#pragma once

#include <cstdint>
#include <vector>

#include "planning/node_gpus.h"

namespace gpupool::planning {

// Of nodes that have room for all workers together, and each for one at least: those with the fewest GPUs,
// then the fewest of them, then the first of the list. Exact: a knapsack over the slots,
// O(nodes x workers).
std::vector<const PoolNode*> fewest_idle(const std::vector<const PoolNode*>& nodes, std::int64_t workers,
                                         std::int64_t gpus_per_worker);

}  // namespace gpupool::planning
