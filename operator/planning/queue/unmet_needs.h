// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/nodes/node_needs.h"
#include "planning/queue/verdict.h"

// Which part of a template no node of a pool meets. Pure.
namespace gpupool::planning {

// The end of a refusal for lack of room, if the template leaves out some nodes or some of their room.
inline constexpr char kAsAsked[] = " with the labels and requests of spec.template";

// Returns why no node of the pool can take one worker, even if all other pods left; nothing if some node can.
// GPUs and taints are not looked at. nodes: those that have GPUs as the pool wants; nothing for none.
std::optional<Verdict> unmet_by_all(const std::string& pool, const std::vector<const PoolNode*>& nodes,
                                    const NodeNeeds& needs);

// The same for one node of spec.nodes.
std::optional<Verdict> unmet_by_named(const PoolNode& node, const NodeNeeds& needs);

}  // namespace gpupool::planning
