// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpupool::inventory {

// The NUMA node whose processors are near the PCI device, as the kernel's files tell; -1 if they do not.
// address: the name of its folder in <sysfs>/bus/pci/devices, such as "0000:65:00.0".
std::int64_t numa_node(const std::string& sysfs, const std::string& address);

}  // namespace gpupool::inventory
