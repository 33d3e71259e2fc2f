// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/read_gpu.h"

#include <array>

#include "inventory/model_label.h"
#include "inventory/numa_node.h"
#include "nvidia/nvml/read_mig.h"
#include "nvidia/nvml/sysfs_address.h"

namespace gpupool::nvidia {

using nvml::Return;

namespace {

// These answers mean that the GPU or the driver lacks a feature, and not that something is wrong.
bool is_absence(Return code) {
  switch (code) {
    case Return::kNotSupported:
    case Return::kFunctionNotFound:
    case Return::kNoPermission:
    case Return::kInvalidArgument:
    case Return::kNotFound:
      return true;
    default:
      return false;
  }
}

// Remembers the first real failure of a series of calls.
class Questions {
 public:
  bool answered(Return code) {
    if (code != Return::kSuccess && !is_absence(code) && failure_ == Return::kSuccess) failure_ = code;
    return code == Return::kSuccess;
  }
  Return failure() const { return failure_; }

 private:
  Return failure_ = Return::kSuccess;
};

void read_numbers(const NvmlFunctions& nvml, nvml::Device device, Questions& ask, inventory::Gpu& gpu) {
  unsigned int number = 0;
  if (ask.answered(invoke(nvml.index, device, &number))) gpu.index = number;
  if (ask.answered(invoke(nvml.minor_number, device, &number))) gpu.minor = number;
  nvml::Memory memory{};
  if (ask.answered(invoke(nvml.memory, device, &memory))) {
    gpu.memory_mib = static_cast<std::int64_t>(memory.total / nvml::kMiB);
  }
  int major = 0;
  int minor = 0;
  if (ask.answered(invoke(nvml.compute_capability, device, &major, &minor))) {
    gpu.compute_major = major;
    gpu.compute_minor = minor;
  }
}

}  // namespace

tl::expected<inventory::Gpu, Return> read_gpu(const NvmlFunctions& nvml, nvml::Device device,
                                              const std::string& sysfs) {
  inventory::Gpu gpu;
  std::array<char, nvml::kUuidSize> uuid{};
  if (const Return done = nvml.uuid(device, uuid.data(), nvml::kUuidSize); done != Return::kSuccess) {
    return tl::unexpected(done);
  }
  gpu.uuid = uuid.data();

  Questions ask;
  std::array<char, nvml::kNameSize> name{};
  if (ask.answered(invoke(nvml.name, device, name.data(), static_cast<unsigned int>(nvml::kNameSize)))) {
    gpu.model = inventory::model_label(name.data());
  }
  read_numbers(nvml, device, ask, gpu);
  nvml::PciInfo pci{};
  if (ask.answered(invoke(nvml.pci_info, device, &pci))) {
    gpu.pci_bus_id = pci.bus_id;
    gpu.numa_node = inventory::numa_node(sysfs, sysfs_address(pci));
  }
  unsigned int current = 0;
  unsigned int pending = 0;
  if (ask.answered(invoke(nvml.mig_mode, device, &current, &pending)) && current == nvml::kEnabled) {
    gpu.mig_enabled = true;
    gpu.mig_instances = read_mig_instances(nvml, device, gpu.memory_mib);
  }
  if (ask.failure() != Return::kSuccess) return tl::unexpected(ask.failure());
  return gpu;
}

}  // namespace gpupool::nvidia
