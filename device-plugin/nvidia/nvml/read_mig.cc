// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/read_mig.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "nvidia/nvml/mig_profile.h"

namespace gpupool::nvidia {

using nvml::Return;

namespace {

std::optional<inventory::MigInstance> read_instance(const NvmlFunctions& nvml, nvml::Device device,
                                                    std::int64_t gpu_memory_mib) {
  inventory::MigInstance instance;
  std::array<char, nvml::kUuidSize> uuid{};
  if (nvml.uuid(device, uuid.data(), nvml::kUuidSize) != Return::kSuccess) return std::nullopt;
  instance.uuid = uuid.data();

  nvml::DeviceAttributes attributes{};
  if (invoke(nvml.attributes, device, &attributes) != Return::kSuccess) return std::nullopt;
  instance.memory_mib = static_cast<std::int64_t>(attributes.memory_mib);

  unsigned int number = 0;
  if (invoke(nvml.gpu_instance_id, device, &number) == Return::kSuccess) instance.gpu_instance = number;
  if (invoke(nvml.compute_instance_id, device, &number) == Return::kSuccess) {
    instance.compute_instance = number;
  }

  std::array<char, nvml::kNameSize> name{};
  if (invoke(nvml.name, device, name.data(), static_cast<unsigned int>(nvml::kNameSize)) ==
      Return::kSuccess) {
    instance.profile = mig_profile_in_name(name.data());
  }
  if (instance.profile.empty()) {
    instance.profile = mig_profile_of_size(attributes.gpu_instance_slices, attributes.compute_instance_slices,
                                           instance.memory_mib, gpu_memory_mib);
  }
  return instance;
}

}  // namespace

std::vector<inventory::MigInstance> read_mig_instances(const NvmlFunctions& nvml, nvml::Device gpu,
                                                       std::int64_t gpu_memory_mib) {
  std::vector<inventory::MigInstance> instances;
  unsigned int most = 0;
  if (invoke(nvml.max_mig_devices, gpu, &most) != Return::kSuccess) return instances;
  for (unsigned int i = 0; i < most; ++i) {
    nvml::Device device = nullptr;
    if (invoke(nvml.mig_by_index, gpu, i, &device) != Return::kSuccess) continue;  // a free place
    if (auto instance = read_instance(nvml, device, gpu_memory_mib))
      instances.push_back(std::move(*instance));
  }
  std::ranges::sort(instances, {}, [](const inventory::MigInstance& instance) {
    return std::tie(instance.gpu_instance, instance.compute_instance, instance.uuid);
  });
  return instances;
}

}  // namespace gpupool::nvidia
