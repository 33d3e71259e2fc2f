// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "inventory/gpu_source.h"
#include "nvidia/nvml/library.h"

namespace gpupool::nvidia {

// All processes that use this GPU, for computing or for graphics, each once. kInvalid: this NVML or this GPU
// does not tell.
base::Result<std::vector<inventory::ProcessUse>> read_processes(const NvmlFunctions& nvml,
                                                                nvml::Device device);

}  // namespace gpupool::nvidia
