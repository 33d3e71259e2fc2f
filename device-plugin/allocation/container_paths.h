// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::allocation {

// Where things are mounted in a container.
inline constexpr const char* kLimitsPath = "/etc/gpupool/limits";
inline constexpr const char* kLimiterPath = "/usr/local/lib/gpupool/libgpupool-vgpu.so";
// Read by glibc's dynamic loader in every program that is started.
inline constexpr const char* kPreloadPath = "/etc/ld.so.preload";

}  // namespace gpupool::allocation
