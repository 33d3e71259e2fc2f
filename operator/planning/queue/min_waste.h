// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "planning/nodes/node_needs.h"

namespace gpupool::planning {

// Chooses nodes for all workers of a job: those with the fewest GPUs in total, then the fewest nodes, then
// the first in the list. Exact: a knapsack over the slots, O(nodes x workers).
// REQUIRES: the nodes have room for all workers together, and each node for at least one.
std::vector<const PoolNode*> min_waste(const std::vector<NodeSlots>& nodes, std::int64_t workers);

}  // namespace gpupool::planning
