// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpupool::inventory {

// How near two GPUs of a machine are, nearest first: NVML's levels, and NVLink before them all.
enum class Distance { kNvlink, kSameBoard, kSingleSwitch, kMultipleSwitches, kHostBridge, kSameCpu, kSystem };

struct Link {
  std::string peer;  // UUID
  Distance distance = Distance::kSystem;
  std::int64_t nvlinks = 0;
  bool operator==(const Link&) const = default;
};

struct MigInstance {
  std::string uuid;     // "MIG-..."
  std::string profile;  // "1g.10gb", "1g.10gb+me"
  std::int64_t memory_mib = 0;
  std::int64_t gpu_instance = 0;
  std::int64_t compute_instance = 0;
  bool operator==(const MigInstance&) const = default;
};

// What of a physical GPU does not change while the driver runs.
struct Gpu {
  std::string uuid;  // "GPU-..."
  std::int64_t index = 0;
  std::int64_t minor = 0;  // of /dev/nvidia<minor>
  std::string model;       // as a label value: spaces are "-"
  std::int64_t memory_mib = 0;
  std::int64_t compute_major = 0;
  std::int64_t compute_minor = 0;
  std::string pci_bus_id;       // "00000000:65:00.0"
  std::int64_t numa_node = -1;  // -1: unknown
  bool mig_enabled = false;
  std::vector<MigInstance> mig_instances;
  std::vector<Link> links;  // to the other GPUs, in order of UUID
  bool operator==(const Gpu&) const = default;
};

struct Driver {
  std::string version;       // "550.54.15"
  std::string cuda_version;  // "12.4"
  bool operator==(const Driver&) const = default;
};

struct Inventory {
  Driver driver;
  std::vector<Gpu> gpus;    // in order of index
  std::int64_t opened = 0;  // grows with every reload of the driver that was seen
  bool operator==(const Inventory&) const = default;
};

}  // namespace gpupool::inventory
