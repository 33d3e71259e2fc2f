// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "inventory/gpu.h"
#include "nvidia/nvml/library.h"

namespace gpupool::nvidia {

// Fills in gpus[i].links, where devices[i] is the handle of gpus[i]. GPUs on NVLink switches reach each other
// with as many links as the one that has fewer.
void read_links(const NvmlFunctions& nvml, const std::vector<nvml::Device>& devices,
                std::vector<inventory::Gpu>& gpus);

}  // namespace gpupool::nvidia
