// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// Returns how long the job runs at most, in seconds, rounded up to 1, 2, 5, 10, 15, 30 minutes, 1, 2, 4, 8,
// 12 hours, 1, 2, 4, 7, 14 days, or a multiple of 14 days; 0 if it has no activeDeadlineSeconds. Jobs of one
// class are ordered by age alone, so that the queue has few groups.
std::int64_t bound_class(const api::GpuJob& job);

}  // namespace gpupool::planning
