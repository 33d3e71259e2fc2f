// SPDX-License-Identifier: Apache-2.0
#include "inventory/numa_node.h"

#include <fstream>

namespace gpupool::inventory {

std::int64_t numa_node(const std::string& sysfs, const std::string& address) {
  std::ifstream file(sysfs + "/bus/pci/devices/" + address + "/numa_node");
  std::int64_t node = -1;
  return file >> node && node >= 0 ? node : -1;
}

}  // namespace gpupool::inventory
