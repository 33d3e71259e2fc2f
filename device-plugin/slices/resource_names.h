// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::slices {

// Slices are called this whoever made the GPU, unless the settings give another name.
inline constexpr const char* kSliceResource = "gpupool.dev/vgpu";

// The names of the resources of one vendor, where the settings give none. Others know them from the vendor's
// own device plugin, so that pods written for that one run here.
struct ResourceNames {
  std::string whole;             // of GPUs that are not cut, such as "nvidia.com/gpu"
  std::string partition_prefix;  // of partitions in hardware, before the profile, such as "nvidia.com/mig-"
};

}  // namespace gpupool::slices
