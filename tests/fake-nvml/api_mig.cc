// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-nvml/machine.h"
#include "tests/fake-nvml/mig_profiles.h"

// NVML's functions about MIG devices; their instances are in api_mig_instances.cc.
using namespace gpupool::fake_nvml;

namespace {

template <class Answer>
Return with_mig(Device device, Answer answer) {
  return with_device(device, [&](const Target& target) {
    return target.mig != nullptr ? answer(target) : Return::kNotSupported;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMigMode(Device device, unsigned int* current, unsigned int* pending) {
  return with_device(device, [&](const Target& target) {
    if (!target.gpu->mig_capable || target.mig != nullptr) return Return::kNotSupported;
    *current = *pending = target.gpu->mig_enabled ? 1 : 0;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned int* count) {
  return with_device(device, [&](const Target& target) {
    *count = target.gpu->mig_capable ? 7 : 0;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned int index, Device* mig) {
  return with_device(device, [&](const Target& target) {
    if (!target.gpu->mig_enabled) return Return::kNotSupported;
    if (index >= target.gpu->mig.size()) return Return::kNotFound;
    *mig = machine().handle(target.gpu->uuid, target.gpu->mig[index].uuid);
    return Return::kSuccess;
  });
}

Return nvmlDeviceIsMigDeviceHandle(Device device, unsigned int* is_mig) {
  return with_device(device, [&](const Target& target) {
    *is_mig = target.mig != nullptr ? 1 : 0;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device mig, Device* device) {
  return with_mig(mig, [&](const Target& target) {
    *device = machine().handle(target.gpu->uuid);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetGpuInstanceId(Device device, unsigned int* id) {
  return with_mig(device, [&](const Target& target) {
    *id = target.mig->gpu_instance;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetComputeInstanceId(Device device, unsigned int* id) {
  return with_mig(device, [&](const Target& target) {
    *id = target.mig->compute_instance;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetAttributes_v2(Device device, nvml::DeviceAttributes* attributes) {
  return with_mig(device, [&](const Target& target) {
    *attributes = {};
    attributes->multiprocessors = 14 * target.mig->compute_slices;
    attributes->copy_engines = target.mig->gpu_slices;
    attributes->gpu_instance_slices = target.mig->gpu_slices;
    attributes->compute_instance_slices = target.mig->compute_slices;
    attributes->memory_mib = target.mig->memory_mib;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetAttributes(Device device, nvml::DeviceAttributes* attributes) {
  return nvmlDeviceGetAttributes_v2(device, attributes);
}

}  // extern "C"
