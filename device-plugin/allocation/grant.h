// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
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
  std::string name;  // made from the content, so the same IDs always name the same file
  std::string content;
  bool operator==(const LimitsFile&) const = default;
};

// What one container gets, in the terms of the kubelet's ContainerAllocateResponse.
struct Grant {
  std::map<std::string, std::string> environment;
  std::vector<Mount> mounts;
  std::vector<DeviceNode> devices;
  std::vector<std::string> cdi_names;
  std::map<std::string, std::string> annotations;
  std::vector<LimitsFile> files;
  bool operator==(const Grant&) const = default;
};

}  // namespace gpupool::allocation
