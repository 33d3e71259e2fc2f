// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/log.h"
#include "inventory/gpu.h"
#include "nvidia/nvml/session.h"

namespace gpupool::nvidia {

struct ListedGpus {
  nvml::Return result = nvml::Return::kSuccess;  // not kSuccess: the driver itself does not answer
  inventory::Inventory inventory;
};

// Lists all GPUs of the driver and makes the session remember them. A lost GPU is left out. A GPU that fails
// to answer for another reason is listed as in `before` (an earlier inventory of the same session, or empty),
// because containers may hold its slices; probes then decide on its health.
ListedGpus list_gpus(NvmlSession& session, const std::string& sysfs, const inventory::Inventory& before,
                     const base::Log& log);

}  // namespace gpupool::nvidia
