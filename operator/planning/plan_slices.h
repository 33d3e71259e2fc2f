#pragma once

#include <map>
#include <memory>
#include <vector>

#include "planning/plan_queue.h"
#include "planning/shared_node.h"

namespace gpupool::planning {

// plan_queue for a sharing pool: the same order, and the same protection of a large job against small ones
// behind it. `nodes` are the pool's members with everything claimed on them.
std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const std::vector<std::shared_ptr<const api::GpuJob>>& queue);

}  // namespace gpupool::planning
