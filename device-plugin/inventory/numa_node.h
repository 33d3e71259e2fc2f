#pragma once

#include <cstdint>
#include <string>

#include "inventory/nvml_api.h"

namespace gpupool::inventory {

// The name of a GPU's directory in /sys/bus/pci/devices: "0000:65:00.0".
std::string sysfs_address(const nvml::PciInfo& pci);

// The NUMA node whose processors are near the GPU, as the kernel tells it; -1 if it does not. Not
// nvmlDeviceGetNumaNodeId(), which is the node that a GPU's own memory makes up on some machines.
std::int64_t numa_node(const std::string& sysfs, const nvml::PciInfo& pci);

}  // namespace gpupool::inventory
