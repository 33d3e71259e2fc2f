// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpupool::allocation {

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = true;
  bool operator==(const Mount&) const = default;
};

struct DeviceNode {
  std::string path;  // in the container
  std::string host_path;
  bool operator==(const DeviceNode&) const = default;
};

// A file that must be on the node before the answer is given.
struct LimitsFile {
  // Made from the content; that of an enforced container is made from its device IDs, because its content
  // changes with the settings and the kubelet goes on using the old name.
  std::string name;
  std::string content;
  bool operator==(const LimitsFile&) const = default;
};

// The file in which the processes of an enforced container count what they use. It begins anew with each
// container, but not when a container is started again.
struct RegionFile {
  struct Device {
    std::string uuid;            // as in the limits file, and in its order
    std::int64_t limit_mib = 0;  // 0: no limit
    bool operator==(const Device&) const = default;
  };
  std::string name;  // made from the device IDs
  std::vector<Device> devices;
  bool operator==(const RegionFile&) const = default;
};

// What one container gets, in the terms of the kubelet's ContainerAllocateResponse.
struct Grant {
  std::map<std::string, std::string> environment;
  std::vector<Mount> mounts;
  std::vector<DeviceNode> devices;
  std::vector<std::string> cdi_names;
  std::map<std::string, std::string> annotations;
  std::vector<LimitsFile> files;
  std::optional<RegionFile> region;  // absent where nothing is enforced
  bool operator==(const Grant&) const = default;
};

}  // namespace gpupool::allocation
