#pragma once

#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::api {

// A merge patch of the status subresource that makes the status exactly `status`, refused with a conflict
// unless the object still has this resourceVersion. Absent fields are written as null, so that nothing of an
// older status stays behind.
std::string status_patch(const std::string& resource_version, const GpuJobStatus& status);
std::string status_patch(const std::string& resource_version, const GpuPoolStatus& status);

}  // namespace gpupool::api
