// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-nvml/machine.h"
#include "tests/fake-nvml/mig_profiles.h"

// NVML's functions about GPU and compute instances, from which NVIDIA's libraries make the name of a profile.
// Both are represented by the handle of their MIG device.
using namespace gpupool::fake_nvml;

namespace {

struct Placement {
  unsigned int start;
  unsigned int size;
};

struct GpuInstanceInfo {
  Device device;
  unsigned int id;
  unsigned int profile;
  Placement placement;
};
static_assert(sizeof(GpuInstanceInfo) == 24);

struct ComputeInstanceInfo {
  Device device;
  nvml::GpuInstance gpu_instance;
  unsigned int id;
  unsigned int profile;
  Placement placement;
};
static_assert(sizeof(ComputeInstanceInfo) == 32);

struct GpuInstanceProfile {
  unsigned int id;
  unsigned int p2p;
  unsigned int slices;
  unsigned int instances;
  unsigned int engines[6];
  unsigned long long memory_mib;
};
static_assert(sizeof(GpuInstanceProfile) == 48);

struct ComputeInstanceProfile {
  unsigned int id;
  unsigned int slices;
  unsigned int instances;
  unsigned int engines[6];
};
static_assert(sizeof(ComputeInstanceProfile) == 36);

template <class Handle>
Device as_device(Handle handle) {
  return reinterpret_cast<Device>(handle);
}

}  // namespace

extern "C" {

Return nvmlDeviceGetGpuInstanceProfileInfo(Device device, unsigned int index, GpuInstanceProfile* info) {
  return with_device(device, [&](const Target& target) {
    const auto slices = gpu_profile_slices(index);
    if (!target.gpu->mig_capable || !slices) return Return::kNotSupported;
    *info = {};
    info->id = index;
    info->slices = *slices;
    info->instances = 7 / *slices;
    info->memory_mib = target.gpu->memory_mib * *slices / 8;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetGpuInstanceById(Device device, unsigned int id, nvml::GpuInstance* instance) {
  return with_device(device, [&](const Target& target) {
    const auto at = std::ranges::find(target.gpu->mig, id, &MigInstance::gpu_instance);
    if (at == target.gpu->mig.end()) return Return::kNotFound;
    *instance = reinterpret_cast<nvml::GpuInstance>(machine().handle(target.gpu->uuid, at->uuid));
    return Return::kSuccess;
  });
}

Return nvmlGpuInstanceGetInfo(nvml::GpuInstance instance, GpuInstanceInfo* info) {
  return with_device(as_device(instance), [&](const Target& target) {
    *info = {.device = machine().handle(target.gpu->uuid),
             .id = target.mig->gpu_instance,
             .profile = gpu_profile_index(*target.mig, *target.gpu),
             .placement = {.start = 0, .size = target.mig->gpu_slices}};
    return Return::kSuccess;
  });
}

Return nvmlGpuInstanceGetComputeInstanceProfileInfo(nvml::GpuInstance instance, unsigned int index,
                                                    unsigned int /*engines*/, ComputeInstanceProfile* info) {
  return with_device(as_device(instance), [&](const Target&) {
    const auto slices = compute_profile_slices(index);
    if (!slices) return Return::kNotSupported;
    *info = {};
    info->id = index;
    info->slices = *slices;
    info->instances = 1;
    return Return::kSuccess;
  });
}

Return nvmlGpuInstanceGetComputeInstanceById(nvml::GpuInstance instance, unsigned int id,
                                             nvml::ComputeInstance* compute) {
  return with_device(as_device(instance), [&](const Target& target) {
    for (const MigInstance& mig : target.gpu->mig) {
      if (mig.gpu_instance != target.mig->gpu_instance || mig.compute_instance != id) continue;
      *compute = reinterpret_cast<nvml::ComputeInstance>(machine().handle(target.gpu->uuid, mig.uuid));
      return Return::kSuccess;
    }
    return Return::kNotFound;
  });
}

Return nvmlComputeInstanceGetInfo_v2(nvml::ComputeInstance compute, ComputeInstanceInfo* info) {
  return with_device(as_device(compute), [&](const Target& target) {
    *info = {.device = machine().handle(target.gpu->uuid),
             .gpu_instance = reinterpret_cast<nvml::GpuInstance>(compute),
             .id = target.mig->compute_instance,
             .profile = compute_profile_index(*target.mig),
             .placement = {.start = 0, .size = target.mig->compute_slices}};
    return Return::kSuccess;
  });
}

Return nvmlComputeInstanceGetInfo(nvml::ComputeInstance compute, ComputeInstanceInfo* info) {
  return nvmlComputeInstanceGetInfo_v2(compute, info);
}

}  // extern "C"
