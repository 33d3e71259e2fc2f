#pragma once

#include <string>

#include "base/log.h"
#include "inventory/gpu.h"
#include "inventory/nvml_session.h"

namespace gpupool::inventory {

struct ListedGpus {
  nvml::Return result = nvml::Return::kSuccess;  // not kSuccess: the driver itself does not answer
  Inventory inventory;
};

// All GPUs that the driver has, which the session then knows. One that is lost is missing. One that does not
// answer for any other reason is listed as `before` has it (an earlier inventory of the same session, or
// empty), because its slices are still handed out; it is for probes to judge it.
ListedGpus list_gpus(NvmlSession& session, const std::string& sysfs, const Inventory& before,
                     const base::Log& log);

}  // namespace gpupool::inventory
