#include "inventory/numa_node.h"

#include <array>
#include <cstdio>
#include <fstream>

namespace gpupool::inventory {

std::string sysfs_address(const nvml::PciInfo& pci) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
  return text.data();
}

std::int64_t numa_node(const std::string& sysfs, const nvml::PciInfo& pci) {
  std::ifstream file(sysfs + "/bus/pci/devices/" + sysfs_address(pci) + "/numa_node");
  std::int64_t node = -1;
  return file >> node && node >= 0 ? node : -1;
}

}  // namespace gpupool::inventory
