// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace gpupool::limiter {

struct SliceMemory {
  bool limited;         // false: the limits do not name the device, or do not limit its memory
  std::uint64_t bytes;  // the limit
  std::uint64_t used;   // by the container's living processes; the limit, where that cannot be known
};

// What the container may use and uses of a device, by its UUID as NVML prints it. The limits file is read at
// the first call, and the region mapped for reading. Limits of the environment are CUDA's alone: they count a
// process's CUDA ordinals. Thread-safe, also in the child of a fork.
SliceMemory slice_memory(std::string_view uuid);

}  // namespace gpupool::limiter
