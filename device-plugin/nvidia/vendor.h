// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/log.h"
#include "nvidia/nvml/source.h"
#include "vendor/vendor.h"

namespace gpupool::nvidia {

// NVIDIA's GPUs: NVML, XIDs, nvidia.com/gpu and NVIDIA's container toolkit.
vendor::Vendor make_vendor(NvmlPaths paths, const base::Log& log);

}  // namespace gpupool::nvidia
