// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "planning/nodes/node_gpus.h"

namespace gpupool::planning {

// The nodes of a pool that jobs have to leave.
struct Drains {
  // In order of name: those that are still held, and those whose annotation is wrong.
  std::vector<api::DrainingNode> nodes;
  std::int64_t held = 0;                         // of these
  std::optional<base::WallTime> first_deadline;  // of those that are held
};

// nodes: the members, in order of name. holders: by node, a job that holds it ("namespace/name"). A node that
// is held by none of these jobs is told by the annotation of its lease. Pure.
Drains drains_of(const std::vector<const PoolNode*>& nodes,
                 const std::map<std::string, std::string>& holders);

}  // namespace gpupool::planning
