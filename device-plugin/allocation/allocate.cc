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

std::string name_of(const std::string& prefix, const std::string& resource, std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return prefix + fingerprint(resource + "\n" + base::join(ids, "\n"));
}

void add_limiter(const NodePaths& paths, EnforcedFiles files, Grant& grant) {
  add_file(std::move(files.limits), kLimitsPath, paths, grant);
  for (const char* library : kLibraries) {
    grant.mounts.push_back(
        {on_node(kLibraryFolder, library), on_node(paths.limiter_directory, library), true});
  }
  grant.mounts.push_back({kPreloadPath, on_node(paths.limiter_directory, kPreloadFile), true});
  grant.mounts.push_back({kRegionPath, on_node(paths.regions_directory, files.region.name), false});
  grant.region = std::move(files.region);
}

}  // namespace

std::string enforced_limits_name(const std::string& resource, std::vector<std::string> ids) {
  return name_of("enforced-", resource, std::move(ids));
}

std::string region_name(const std::string& resource, std::vector<std::string> ids) {
  return name_of("region-", resource, std::move(ids));
}

EnforcedFiles enforced_files(const std::string& resource, const std::vector<std::string>& ids,
                             const std::vector<Device>& devices) {
  EnforcedFiles files{{enforced_limits_name(resource, ids), limits_text(devices, true)},
                      {region_name(resource, ids), {}}};
  for (const Device& device : devices) {
    files.region.devices.push_back({device.visible, device.gpu->limited ? device.memory_mib : 0});
  }
  return files;
}

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
    if (!is_enforced(*devices)) {
      add_file(limits_file(*devices), kLimitsPath, paths, grant);
    } else if (paths.limiter_directory.empty()) {
      return base::fail(base::ErrorCode::kInvalid,
                        "limits are to be enforced (enforce: library), but the limiter is not on this node");
    } else {
      add_limiter(paths, enforced_files(resource.name, ids, *devices), grant);
    }
  }
  return grant;
}

}  // namespace gpupool::allocation
