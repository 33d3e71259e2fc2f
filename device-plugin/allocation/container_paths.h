// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace gpupool::allocation {

// Where things are mounted in a container.
inline constexpr const char* kLimitsPath = "/etc/gpupool/limits";
// What the processes of the container use: writable for them.
inline constexpr const char* kRegionPath = "/run/gpupool/region";
inline constexpr const char* kLibraryFolder = "/usr/local/lib/gpupool";
// The limiter's libraries, in the order in which they are loaded.
inline constexpr std::array<const char*, 3> kLibraries = {"libgpupool-vgpu.so", "libgpupool-vgpu-alias.so",
                                                          "libgpupool-vgpu-nvml.so"};
// Read by glibc's dynamic loader in every program that is started.
inline constexpr const char* kPreloadFile = "ld.so.preload";  // beside the libraries, on the node
inline constexpr const char* kPreloadPath = "/etc/ld.so.preload";

}  // namespace gpupool::allocation
