#pragma once

#include <string>

#include "inventory/gpu_source.h"
#include "inventory/nvml_library.h"

namespace gpupool::inventory {

// Utilisation, memory, temperature and power of one GPU; what it does not offer is absent.
Usage read_usage(const NvmlFunctions& nvml, nvml::Device device);

struct Probed {
  Probe probe;
  nvml::Return result = nvml::Return::kSuccess;  // the first failure
};

// Asks for what only a working GPU can tell, then what the driver thinks of it: whether it wants a reset, and
// whether a bad memory row could not be replaced.
Probed probe_gpu(const NvmlFunctions& nvml, nvml::Device device);

}  // namespace gpupool::inventory
