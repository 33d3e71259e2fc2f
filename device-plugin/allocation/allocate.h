#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/gpu.h"
#include "settings/settings.h"
#include "slices/table.h"

namespace gpupool::allocation {

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = true;
  bool operator==(const Mount&) const = default;
};

struct DeviceNode {
  std::string path;  // the same in the container and on the host below driver_root
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

// Where things lie on the node.
struct Places {
  std::string limits_directory = "/var/lib/gpupool/limits";  // as the kubelet's runtime sees it
  std::string limiter_library;  // host path of libgpupool-vgpu.so; empty: not installed
};

// The answer for these device IDs, from nothing but the table: the same IDs always get the same answer, and
// nothing is remembered. Errors: kInvalidArgument for unknown, missing or duplicate IDs, and for a set that
// breaks the resource's policy; kInvalid ("failed precondition") for unhealthy ones. The message is shown to
// the pod's owner. Pure.
base::Result<Grant> allocate(const slices::Resource& resource, const std::vector<std::string>& ids,
                             const settings::Settings& settings, const Places& places);

// `size` of `available` that contain all of `must_include`, in the order of preference. As many as there are
// if there are too few. Deterministic, whatever the order of the arguments; unknown IDs are left out. Pure.
std::vector<std::string> prefer(const slices::Resource& resource, const std::vector<std::string>& available,
                                const std::vector<std::string>& must_include, std::size_t size,
                                const std::vector<inventory::Gpu>& gpus);

}  // namespace gpupool::allocation
