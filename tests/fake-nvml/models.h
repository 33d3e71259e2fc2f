// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace gpupool::fake_nvml {

// What NVML tells of a product.
struct Model {
  std::string_view name;
  std::uint64_t memory_mib;
  int compute_major;
  int compute_minor;
  unsigned int architecture;  // NVML_DEVICE_ARCH_*
  unsigned int brand;         // NVML_BRAND_*
  unsigned int pci_device_id;
  bool mig_capable;
  unsigned int multiprocessors;
};

// Null for a name that is not in the list.
const Model* find_model(std::string_view name);

}  // namespace gpupool::fake_nvml
