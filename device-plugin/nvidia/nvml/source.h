// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "inventory/gpu_source.h"

namespace gpupool::nvidia {

// Where NVML and the kernel's view of PCI devices are found.
struct NvmlPaths {
  std::string library = "libnvidia-ml.so.1";  // a name that the loader searches for, or a path
  std::string sysfs = "/sys";
};

// The GPUs of NVIDIA's driver, asked through its library NVML, which is loaded when list() is first called. A
// node without it is no error here: every list() tries again.
std::unique_ptr<inventory::GpuSource> make_nvml_source(NvmlPaths paths, const base::Log& log);

}  // namespace gpupool::nvidia
