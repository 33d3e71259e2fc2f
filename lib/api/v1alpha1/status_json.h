// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/gpu_sweep.h"

namespace gpupool::api {

// Returns the body of an update (PUT) of the status subresource after which the status equals `status`. It
// names the object's UID and resourceVersion, so the server refuses it with a conflict if the object has
// changed. An update, because a merge patch costs the API server a third more
// (docs/decisions/0018-statuses-that-are-cheap-to-write.md).
std::string status_update(const ObjectMeta& metadata, const GpuJobStatus& status);
std::string status_update(const ObjectMeta& metadata, const GpuPoolStatus& status);
std::string status_update(const ObjectMeta& metadata, const GpuSweepStatus& status);

}  // namespace gpupool::api
