// SPDX-License-Identifier: Apache-2.0
#include "allocation/allocate.h"

#include <algorithm>
#include <filesystem>

#include "allocation/container_paths.h"
#include "allocation/devices.h"
#include "allocation/limits_file.h"
#include "base/join.h"

namespace gpupool::allocation {
namespace {

std::string on_node(const std::string& directory, const std::string& name) {
  return (std::filesystem::path(directory) / name).lexically_normal().string();
}

void add_file(LimitsFile file, const char* container_path, const NodePaths& paths, Grant& grant) {
  grant.mounts.push_back({container_path, on_node(paths.limits_directory, file.name), true});
  grant.files.push_back(std::move(file));
}

void add_limiter(const NodePaths& paths, Grant& grant) {
  grant.mounts.push_back({kLimiterPath, paths.limiter_library, true});
  add_file(named_by_content("preload-", std::string(kLimiterPath) + "\n"), kPreloadPath, paths, grant);
}

}  // namespace

base::Result<Grant> allocate(const slices::Resource& resource, const std::vector<std::string>& ids,
                             const settings::Settings& settings, const NodePaths& paths,
                             const ContainerAccess& access) {
  const auto devices = devices_of(resource, ids);
  if (!devices) return tl::unexpected<base::Error>(devices.error());

  Grant grant;
  grant.environment = access.environment(*devices, settings.passing.environment);
  if (settings.passing.device_nodes) {
    for (const std::string& path : access.device_nodes(*devices)) {
      grant.devices.push_back({path, on_node(settings.driver_root, path.substr(1))});
    }
  }
  const std::string kind = settings.cdi_prefix.empty() ? access.cdi_kind() : settings.cdi_prefix;
  std::vector<std::string> names;
  for (const Device& device : *devices) names.push_back(kind + "=" + device.visible);
  if (settings.passing.cdi_devices) grant.cdi_names = names;
  if (settings.passing.cdi_annotations) {
    // One key a resource, so that two resources of a container do not take each other's place.
    grant.annotations["cdi.k8s.io/gpupool_" + fingerprint(resource.name)] = base::join(names, ",");
  }
  if (std::any_of(devices->begin(), devices->end(), [](const Device& one) { return one.gpu->limited; })) {
    grant.environment["GPUPOOL_LIMITS"] = kLimitsPath;
    add_file(limits_file(*devices), kLimitsPath, paths, grant);
    if (!paths.limiter_library.empty()) add_limiter(paths, grant);
  }
  return grant;
}

}  // namespace gpupool::allocation
