// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/sysfs_address.h"

#include <array>
#include <cstdio>

namespace gpupool::nvidia {

std::string sysfs_address(const nvml::PciInfo& pci) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
  return text.data();
}

}  // namespace gpupool::nvidia
