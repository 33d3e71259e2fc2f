#pragma once

#include <memory>
#include <vector>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// First come first served within priority (higher first), by creation time, then as given.
std::vector<const api::GpuJob*> in_order(const std::vector<std::shared_ptr<const api::GpuJob>>& queue);

}  // namespace gpupool::planning
