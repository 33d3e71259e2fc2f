// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/meta/resource_type.h"

namespace gpupool::test {

inline constexpr api::ResourceType kPod{"", "v1", "pods", "Pod", true};
inline constexpr api::ResourceType kNode{"", "v1", "nodes", "Node", false};
inline constexpr api::ResourceType kGpuJob{"gpupool.dev", "v1alpha1", "gpujobs", "GpuJob", true};

}  // namespace gpupool::test
