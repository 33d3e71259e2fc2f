// SPDX-License-Identifier: Apache-2.0
#include "nvidia/container_access.h"

#include <algorithm>
#include <cstdint>

namespace gpupool::nvidia {

namespace {

using allocation::Device;

std::string visible_devices(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) text += (text.empty() ? "" : ",") + device.visible;
  return text;
}

// Variables of HAMi-core. CUDA_DEVICE_SM_LIMIT holds for all devices that have no limit of their own. So it
// is set only if every device has one, to the lowest of them.
void add_limits(const std::vector<Device>& devices, std::map<std::string, std::string>& environment) {
  std::int64_t lowest = 100;
  bool all = true;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    all = all && device.gpu->limited;
    if (!device.gpu->limited) continue;
    const std::string suffix = "_" + std::to_string(i);
    environment["CUDA_DEVICE_MEMORY_LIMIT" + suffix] = std::to_string(device.memory_mib) + "m";
    environment["CUDA_DEVICE_SM_LIMIT" + suffix] = std::to_string(device.cores);
    lowest = std::min(lowest, device.cores);
  }
  if (all) environment["CUDA_DEVICE_SM_LIMIT"] = std::to_string(lowest);
}

class ContainerAccess final : public allocation::ContainerAccess {
 public:
  std::map<std::string, std::string> environment(const std::vector<Device>& devices,
                                                 bool by_runtime) const override {
    std::map<std::string, std::string> environment;
    // An image may set "all", which the runtime would obey; "void" keeps it from adding anything.
    environment["NVIDIA_VISIBLE_DEVICES"] = by_runtime ? visible_devices(devices) : "void";
    add_limits(devices, environment);
    return environment;
  }

  // As the container toolkit lays them out.
  std::vector<std::string> device_nodes(const std::vector<Device>& devices) const override {
    std::vector<std::string> paths;
    for (const Device& device : devices) {
      std::string path = "/dev/nvidia" + std::to_string(device.gpu->minor);
      if (paths.empty() || paths.back() != path) paths.push_back(std::move(path));
    }
    paths.insert(paths.end(), {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"});
    return paths;
  }

  std::string cdi_kind() const override { return "nvidia.com/gpu"; }
};

}  // namespace

std::unique_ptr<const allocation::ContainerAccess> make_container_access() {
  return std::make_unique<const ContainerAccess>();
}

}  // namespace gpupool::nvidia
