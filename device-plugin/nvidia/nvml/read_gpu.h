// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "inventory/gpu.h"
#include "nvidia/nvml/library.h"

namespace gpupool::nvidia {

// One GPU as the driver describes it, without its links. What this GPU or this version of NVML does not offer
// keeps its default; the error is that of a GPU that does not answer.
tl::expected<inventory::Gpu, nvml::Return> read_gpu(const NvmlFunctions& nvml, nvml::Device device,
                                                    const std::string& sysfs);

}  // namespace gpupool::nvidia
