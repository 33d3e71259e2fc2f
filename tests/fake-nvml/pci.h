// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nvidia/nvml/api.h"
#include "tests/fake-nvml/world.h"

namespace gpupool::fake_nvml {

std::string bus_id_of(const Gpu& gpu);  // "00000000:10:00.0"
nvidia::nvml::PciInfo pci_info_of(const Gpu& gpu);

}  // namespace gpupool::fake_nvml
