// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/problem.h"
#include "planning/nodes/membership.h"

namespace gpupool::planning {

// Returns why no job can ever get nodes of the pool as it is now, and what would change that; nullopt if one
// of its members has GPUs that the pool may use, whether they are free or not.
//   usable    number of members with such GPUs
//   left_out  members.excluded, then the members without such GPUs, each with the reason
// REQUIRES: the pool is valid (validate_pool).
std::optional<api::Problem> why_not_ready(const api::GpuPool& pool, const Members& members,
                                          std::int64_t usable,
                                          const std::vector<api::ExcludedNode>& left_out);

// Returns "1 node", "0 nodes", "7 nodes".
std::string count_of_nodes(std::int64_t count);

}  // namespace gpupool::planning
