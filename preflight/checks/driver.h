// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "checks/finding.h"
#include "inventory/gpu.h"

namespace gpupool::checks {

struct DriverFacts {
  enum class Library { kMissing, kUsable, kNoModule, kMismatch, kFailing };

  Library library = Library::kMissing;            // kUsable: NVML opened
  std::optional<inventory::Inventory> inventory;  // absent: no driver answered
  std::string error;                              // why not
  std::string library_version;                    // from the name of its file; empty: unknown
  std::string module_version;                     // of the loaded kernel module; empty: none is loaded
  bool nouveau = false;                           // the kernel's own driver is loaded and holds the GPUs
  std::size_t pci_gpus = 0;                       // NVIDIA's display controllers on the PCI bus
};

Finding judge_driver(const DriverFacts& facts);

}  // namespace gpupool::checks
