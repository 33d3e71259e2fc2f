#include "allocation/allocate.h"

#include <algorithm>
#include <filesystem>

#include "allocation/container_paths.h"
#include "allocation/devices.h"
#include "allocation/limits_file.h"

namespace gpupool::allocation {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

std::string on_node(const std::string& directory, const std::string& name) {
  return (std::filesystem::path(directory) / name).lexically_normal().string();
}

// The names that HAMi-core reads. Its limit of the cores is one for all devices unless a device has its own,
// so the common one is the lowest, and is only given where every device has one.
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

void add_file(LimitsFile file, const char* container_path, const Places& places, Grant& grant) {
  grant.mounts.push_back({container_path, on_node(places.limits_directory, file.name), true});
  grant.files.push_back(std::move(file));
}

void add_limiter(const Places& places, Grant& grant) {
  grant.mounts.push_back({kLimiterPath, places.limiter_library, true});
  add_file(named_by_content("preload-", std::string(kLimiterPath) + "\n"), kPreloadPath, places, grant);
}

// As the container toolkit lays them out: the GPUs, and what all GPUs share.
std::vector<DeviceNode> device_nodes(const std::vector<Device>& devices, const std::string& driver_root) {
  std::vector<std::string> paths;
  for (const Device& device : devices) {
    std::string path = "/dev/nvidia" + std::to_string(device.gpu->minor);
    if (paths.empty() || paths.back() != path) paths.push_back(std::move(path));
  }
  paths.insert(paths.end(), {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"});
  std::vector<DeviceNode> nodes;
  nodes.reserve(paths.size());
  for (std::string& path : paths) nodes.push_back({path, on_node(driver_root, path.substr(1))});
  return nodes;
}

}  // namespace

base::Result<Grant> allocate(const slices::Resource& resource, const std::vector<std::string>& ids,
                             const settings::Settings& settings, const Places& places) {
  const auto devices = devices_of(resource, ids);
  if (!devices) return tl::unexpected<base::Error>(devices.error());

  Grant grant;
  std::vector<std::string> uuids;
  std::vector<std::string> names;
  for (const Device& device : *devices) {
    uuids.push_back(device.visible);
    names.push_back(settings.cdi_prefix + "=" + device.visible);
  }
  // An image may come with "all", and the container runtime would obey; "void" keeps it from adding anything.
  grant.environment["NVIDIA_VISIBLE_DEVICES"] = settings.passing.environment ? joined(uuids) : "void";
  if (settings.passing.device_nodes) grant.devices = device_nodes(*devices, settings.driver_root);
  if (settings.passing.cdi_devices) grant.cdi_names = names;
  if (settings.passing.cdi_annotations) {
    // One key a resource, so that two resources of a container do not take each other's place.
    grant.annotations["cdi.k8s.io/gpupool_" + fingerprint(resource.name)] = joined(names);
  }
  add_limits(*devices, grant.environment);
  if (std::any_of(devices->begin(), devices->end(), [](const Device& one) { return one.gpu->limited; })) {
    grant.environment["GPUPOOL_LIMITS"] = kLimitsPath;
    add_file(limits_file(*devices), kLimitsPath, places, grant);
    if (!places.limiter_library.empty()) add_limiter(places, grant);
  }
  return grant;
}

}  // namespace gpupool::allocation
