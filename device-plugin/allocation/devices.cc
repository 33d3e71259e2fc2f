// SPDX-License-Identifier: Apache-2.0
#include "allocation/devices.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace gpupool::allocation {
namespace {

using base::ErrorCode;
using slices::Resource;
using slices::Slice;
using slices::SlicedGpu;

constexpr std::int64_t kAllCores = 100;

// An ID of ours has at most 63 characters; a longer one comes from elsewhere and is shortened in messages.
std::string quoted(const std::string& id) {
  constexpr std::size_t kLongest = 63;
  return "'" + (id.size() > kLongest ? id.substr(0, kLongest) + "..." : id) + "'";
}

std::string name_of(const SlicedGpu& gpu) { return "GPU " + std::to_string(gpu.index); }

const SlicedGpu* find_gpu(const Resource& resource, const std::string& uuid) {
  const auto found = std::find_if(resource.gpus.begin(), resource.gpus.end(),
                                  [&](const SlicedGpu& gpu) { return gpu.uuid == uuid; });
  return found == resource.gpus.end() ? nullptr : &*found;
}

base::Result<std::vector<const Slice*>> find_slices(const Resource& resource,
                                                    const std::vector<std::string>& ids) {
  if (ids.empty()) return base::fail(ErrorCode::kInvalidArgument, "no device ID was given");
  std::unordered_map<std::string_view, const Slice*> known;
  known.reserve(resource.slices.size());
  for (const Slice& slice : resource.slices) known.emplace(slice.id, &slice);
  std::vector<const Slice*> found;
  for (const std::string& id : ids) {
    const auto slice = known.find(id);
    if (slice == known.end()) {
      return base::fail(ErrorCode::kInvalidArgument,
                        "this node does not advertise device " + quoted(id) + " as " + resource.name +
                            " (any more): start the pod again, so that it gets other devices");
    }
    if (std::find(found.begin(), found.end(), slice->second) != found.end()) {
      return base::fail(ErrorCode::kInvalidArgument, "device " + quoted(id) + " was asked for twice");
    }
    found.push_back(slice->second);
  }
  return found;
}

// Checked after everything else is known to be right, so that the reason names what is wrong with the GPU.
base::Result<void> check_health(const Resource& resource, const std::vector<const Slice*>& chosen) {
  for (const Slice* slice : chosen) {
    if (slice->healthy) continue;
    const SlicedGpu* gpu = find_gpu(resource, slice->gpu);
    return base::fail(ErrorCode::kInvalid, "device " + quoted(slice->id) + " of " +
                                               (gpu == nullptr ? "its GPU" : name_of(*gpu)) +
                                               " is not healthy: " + slice->unhealthy_reason +
                                               "; start the pod again, so that it gets other devices");
  }
  return {};
}

// The least number of GPUs of this resource that could hold so many slices of one container.
std::size_t fewest_gpus(const Resource& resource, std::size_t slices) {
  std::vector<std::int64_t> counts;
  counts.reserve(resource.gpus.size());
  for (const SlicedGpu& gpu : resource.gpus) counts.push_back(gpu.split_count);
  std::sort(counts.rbegin(), counts.rend());
  std::int64_t held = 0;
  std::size_t gpus = 0;
  while (gpus < counts.size() && held < static_cast<std::int64_t>(slices)) held += counts[gpus++];
  return gpus;
}

std::string shares(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) {
    text +=
        (text.empty() ? "" : ", ") + std::to_string(device.ordinals.size()) + " of " + name_of(*device.gpu);
  }
  return text;
}

base::Result<void> check_policy(const Resource& resource, const std::vector<Device>& devices,
                                std::size_t slices) {
  const std::string asked = std::to_string(slices) + " slices of " + resource.name;
  if (resource.policy == settings::Policy::kDistinct) {
    if (devices.size() == slices) return {};
    return base::fail(ErrorCode::kInvalidArgument,
                      "the container asks for " + asked +
                          ", each of a GPU of its own (allocationPolicy distinct), "
                          "but too few GPUs had a free one: it would get " +
                          shares(devices) +
                          ". Ask for fewer, or start the pod again when more GPUs have free slices");
  }
  const std::size_t most = fewest_gpus(resource, slices);
  if (devices.size() <= most) return {};
  const std::string gpus = most == 1 ? "one GPU" : "no more than " + std::to_string(most) + " GPUs";
  return base::fail(ErrorCode::kInvalidArgument,
                    "the container asks for " + asked + ", which must be of " + gpus +
                        ", but so many were not free there: it would get " + shares(devices) +
                        ". Ask for fewer, or start the pod again when more slices of a GPU are free");
}

// MIG instances are not bound to a policy: each is a device of its own, on whatever GPU.
bool is_mig(const std::vector<const Slice*>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(),
                     [](const Slice* slice) { return slice->visible != slice->gpu; });
}

base::Result<std::vector<Device>> devices_with(const Resource& resource,
                                               const std::vector<const Slice*>& chosen) {
  std::vector<Device> devices;
  for (const Slice* slice : chosen) {
    const SlicedGpu* gpu = find_gpu(resource, slice->gpu);
    if (gpu == nullptr) {
      return base::fail(ErrorCode::kInvalid, "the GPU of device " + quoted(slice->id) + " is not known");
    }
    auto device = std::find_if(devices.begin(), devices.end(),
                               [&](const Device& one) { return one.visible == slice->visible; });
    if (device == devices.end()) device = devices.insert(device, Device{gpu, slice->visible, 0, 0, {}});
    device->memory_mib += slice->memory_mib;
    device->cores = std::min(kAllCores, device->cores + slice->cores);
    device->ordinals.push_back(slice->ordinal);
  }
  for (Device& device : devices) std::sort(device.ordinals.begin(), device.ordinals.end());
  std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
    return std::tie(a.gpu->index, a.gpu->uuid, a.ordinals, a.visible) <
           std::tie(b.gpu->index, b.gpu->uuid, b.ordinals, b.visible);
  });
  return devices;
}

}  // namespace

base::Result<std::vector<Device>> devices_of(const Resource& resource, const std::vector<std::string>& ids) {
  const auto chosen = find_slices(resource, ids);
  if (!chosen) return tl::unexpected<base::Error>(chosen.error());
  if (auto ok = check_health(resource, *chosen); !ok) return tl::unexpected<base::Error>(ok.error());
  auto devices = devices_with(resource, *chosen);
  if (!devices || is_mig(*chosen)) return devices;
  if (auto ok = check_policy(resource, *devices, chosen->size()); !ok) {
    return tl::unexpected<base::Error>(ok.error());
  }
  return devices;
}

base::Result<std::vector<Device>> held_devices(const Resource& resource,
                                               const std::vector<std::string>& ids) {
  const auto chosen = find_slices(resource, ids);
  if (!chosen) return tl::unexpected<base::Error>(chosen.error());
  return devices_with(resource, *chosen);
}

}  // namespace gpupool::allocation
