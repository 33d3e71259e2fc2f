// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocation/devices.h"

namespace gpupool::allocation {

// What a container needs to use GPUs of one vendor. Implementations are pure and thread-safe: calls come from
// gRPC's threads and from the agent's.
class ContainerAccess {
 public:
  virtual ~ContainerAccess() = default;

  // Environment variables. by_runtime: the vendor's container runtime is to add the devices because of them;
  // otherwise they must keep it from adding any, whatever the image says. Limits of sliced devices are
  // included.
  virtual std::map<std::string, std::string> environment(const std::vector<Device>& devices,
                                                         bool by_runtime) const = 0;
  // Device nodes of these devices and those that all GPUs share: absolute paths, each once, the same in the
  // container and on the node below the settings' driver_root.
  virtual std::vector<std::string> device_nodes(const std::vector<Device>& devices) const = 0;
  // The CDI kind of these devices where the settings name none, such as "nvidia.com/gpu".
  virtual std::string cdi_kind() const = 0;
};

}  // namespace gpupool::allocation
