// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nvidia/nvml/api.h"

namespace gpupool::nvidia {

// The name of a GPU's folder in /sys/bus/pci/devices: "0000:65:00.0". Pure.
std::string sysfs_address(const nvml::PciInfo& pci);

}  // namespace gpupool::nvidia
