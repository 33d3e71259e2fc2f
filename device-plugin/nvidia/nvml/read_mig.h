// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "inventory/gpu.h"
#include "nvidia/nvml/library.h"

namespace gpupool::nvidia {

// The MIG devices of a GPU in MIG mode, in order of GPU and compute instance. One that is being taken down
// while we look is left out.
std::vector<inventory::MigInstance> read_mig_instances(const NvmlFunctions& nvml, nvml::Device gpu,
                                                       std::int64_t gpu_memory_mib);

}  // namespace gpupool::nvidia
