// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/problem.h"

namespace gpupool::planning {

// Returns why no job can get nodes of this pool until a person corrects its spec; nothing if the spec is
// valid.
std::optional<api::Problem> validate_pool(const api::GpuPool& pool);

}  // namespace gpupool::planning
