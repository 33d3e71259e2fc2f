// SPDX-License-Identifier: Apache-2.0
#include "kubelet/messages.h"

#include <algorithm>
#include <map>
#include <string>

namespace gpupool::kubelet {

DeviceList device_list(const slices::Resource* resource, std::size_t max_bytes) {
  DeviceList list;
  if (resource == nullptr) return list;
  std::map<std::string, std::int64_t> numa_nodes;
  for (const auto& gpu : resource->gpus) numa_nodes[gpu.uuid] = gpu.numa_node;
  std::size_t bytes = 0;
  for (const auto& slice : resource->slices) {
    v1beta1::Device device;
    device.set_id(slice.id);
    device.set_health(slice.healthy ? "Healthy" : "Unhealthy");
    // An unknown NUMA node is left out: the topology manager would take its number (-1) for a node.
    const auto numa = numa_nodes.find(slice.gpu);
    if (numa != numa_nodes.end() && numa->second >= 0) {
      device.mutable_topology()->add_nodes()->set_id(numa->second);
    }
    bytes += device.ByteSizeLong() + 4;  // with the field's tag and length
    if (bytes > max_bytes) {
      ++list.left_out;
      continue;
    }
    *list.message.add_devices() = std::move(device);
  }
  return list;
}

const slices::Resource* find_resource(const slices::Table& table, const std::string& name) {
  const auto found = std::find_if(table.resources.begin(), table.resources.end(),
                                  [&](const slices::Resource& resource) { return resource.name == name; });
  return found == table.resources.end() ? nullptr : &*found;
}

void fill(const allocation::Grant& grant, v1beta1::ContainerAllocateResponse& response) {
  for (const auto& [name, value] : grant.environment) (*response.mutable_envs())[name] = value;
  for (const auto& [key, value] : grant.annotations) (*response.mutable_annotations())[key] = value;
  for (const auto& name : grant.cdi_names) response.add_cdi_devices()->set_name(name);
  for (const auto& mount : grant.mounts) {
    auto& added = *response.add_mounts();
    added.set_container_path(mount.container_path);
    added.set_host_path(mount.host_path);
    added.set_read_only(mount.read_only);
  }
  for (const auto& node : grant.devices) {
    auto& added = *response.add_devices();
    added.set_container_path(node.path);
    added.set_host_path(node.host_path);
    added.set_permissions("rw");
  }
}

}  // namespace gpupool::kubelet
