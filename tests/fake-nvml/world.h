// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpupool::fake_nvml {

struct MigInstance {
  std::string uuid;
  std::string profile;
  unsigned int gpu_instance = 0;
  unsigned int compute_instance = 0;
  unsigned int gpu_slices = 0;
  unsigned int compute_slices = 0;
  std::uint64_t memory_mib = 0;
};

struct Nvlink {
  std::optional<unsigned int> gpu;  // absent: a switch
  unsigned int links = 0;
};

struct Process {
  unsigned int pid = 0;
  std::uint64_t used_mib = 0;
  unsigned int utilization = 0;
};

// Whether a GPU answers: kLost has fallen off the bus, kFailing answers NVML_ERROR_UNKNOWN to everything.
enum class State { kOk, kLost, kFailing, kResetRequired };

struct Gpu {
  std::string uuid;
  std::string model;
  std::uint64_t memory_mib = 0;
  std::uint64_t used_mib = 0;
  std::uint64_t context_mib = 0;  // what CUDA's context takes of it
  unsigned int multiprocessors = 0;
  int compute_major = 0;
  int compute_minor = 0;
  unsigned int architecture = 0;
  unsigned int brand = 0;
  unsigned int pci_device_id = 0;
  bool mig_capable = false;
  unsigned int minor = 0;
  unsigned int pci_bus = 0;
  unsigned int pci_switch = 0;  // 0: on no switch; the others have numbers of their own
  unsigned int board = 0;       // likewise
  unsigned int numa_node = 0;
  unsigned int utilization = 0;
  unsigned int temperature = 0;
  unsigned int power_milliwatts = 0;
  State state = State::kOk;
  std::optional<unsigned int> recovery_action;  // absent: a driver that is too old to tell
  bool remapping_failed = false;
  bool mig_enabled = false;
  std::vector<MigInstance> mig;
  std::vector<Nvlink> nvlinks;
  std::vector<Process> processes;
};

struct Xid {
  std::uint64_t sequence = 0;
  unsigned int gpu = 0;
  std::uint64_t xid = 0;
};

// Everything that the library pretends.
struct World {
  bool loaded = true;  // the kernel's module
  std::string driver_version = "550.54.15";
  int cuda_version = 12040;
  std::uint64_t pool_growth_mib = 32;  // of CUDA's memory pools
  std::uint64_t load = 1;              // another number: the module was reloaded
  std::vector<Gpu> gpus;
  std::vector<Xid> xids;
};

}  // namespace gpupool::fake_nvml
