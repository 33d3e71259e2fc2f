// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "slices/table.h"

namespace gpupool::allocation {

// What a container sees as one device: all its slices of one GPU, or one MIG instance.
struct Device {
  const slices::SlicedGpu* gpu = nullptr;
  std::string visible;  // UUID
  std::int64_t memory_mib = 0;
  std::int64_t cores = 0;              // percent, at most 100
  std::vector<std::int64_t> ordinals;  // of its slices, ascending
};

// The devices that these IDs stand for, in the order of the GPUs' index: the place of a device is its ordinal
// in the container. Refuses what allocate() refuses. The result points into `resource`.
base::Result<std::vector<Device>> devices_of(const slices::Resource& resource,
                                             const std::vector<std::string>& ids);

// The same for a container that has these devices already: GPUs may have failed, and the policy may have
// changed since.
base::Result<std::vector<Device>> held_devices(const slices::Resource& resource,
                                               const std::vector<std::string>& ids);

}  // namespace gpupool::allocation
