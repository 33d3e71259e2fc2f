#pragma once

#include <map>
#include <vector>

#include "planning/shared_node.h"
#include "planning/verdict.h"
#include "planning/waiting_line.h"

namespace gpupool::planning {

// Who gets which slices in a sharing pool: the order of QueuePlan, and its protection of a large job against
// small ones behind it. `nodes` are the pool's members with everything claimed on them.
std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const WaitingLine& line);

}  // namespace gpupool::planning
