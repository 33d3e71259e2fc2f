// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/pci.h"

#include <array>
#include <cstdio>

namespace gpupool::fake_nvml {

std::string bus_id_of(const Gpu& gpu) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%08X:%02X:%02X.0", 0U, gpu.pci_bus & 0xFFU, 0U);
  return text.data();
}

nvidia::nvml::PciInfo pci_info_of(const Gpu& gpu) {
  nvidia::nvml::PciInfo pci{};
  std::snprintf(pci.bus_id, sizeof pci.bus_id, "%s", bus_id_of(gpu).c_str());
  std::snprintf(pci.bus_id_legacy, sizeof pci.bus_id_legacy, "%04X:%02X:%02X.0", 0U, gpu.pci_bus & 0xFFU, 0U);
  pci.bus = gpu.pci_bus;
  pci.device_id = gpu.pci_device_id;
  return pci;
}

}  // namespace gpupool::fake_nvml
