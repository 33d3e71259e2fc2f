// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

inline constexpr std::int64_t kDefaultGraceSeconds = 30;  // of Kubernetes

// How long the workers of a job may take to end when they are told to, in seconds: as spec.checkpoint says,
// else as its template, else Kubernetes' default. of_template: terminationGracePeriodSeconds of the template.
// most: what the pool allows; absent: anything. Never 0, which would be a forced deletion: the object would
// be gone before its processes. Pure.
std::int64_t grace_seconds(const api::GpuJobSpec& spec, const std::optional<std::int64_t>& of_template,
                           const std::optional<std::int64_t>& most);

}  // namespace gpupool::planning
