// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "inventory/gpu_source.h"
#include "nvidia/nvml/library.h"

namespace gpupool::nvidia {

// Utilisation, memory, temperature and power of one GPU; what it does not offer is absent.
inventory::Usage read_usage(const NvmlFunctions& nvml, nvml::Device device);

struct Probed {
  inventory::Probe probe;
  nvml::Return result = nvml::Return::kSuccess;  // the first failure
};

// Reads values that only a working GPU can give, then asks the driver whether it wants a reset and whether a
// bad memory row could not be replaced.
Probed probe_gpu(const NvmlFunctions& nvml, nvml::Device device);

}  // namespace gpupool::nvidia
