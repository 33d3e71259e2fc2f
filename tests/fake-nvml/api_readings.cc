// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/driver_use.h"
#include "tests/fake-nvml/machine.h"

// NVML's functions about what happens on a GPU now.
using namespace gpupool::fake_nvml;

namespace {

constexpr unsigned long long kMiB = 1ULL << 20U;

unsigned long long total_bytes(const Target& target) {
  return (target.mig != nullptr ? target.mig->memory_mib : target.gpu->memory_mib) * kMiB;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMemoryInfo(Device device, nvml::Memory* memory) {
  return with_device(device, [&](const Target& target) {
    memory->total = total_bytes(target);
    memory->used = used_bytes(target);
    memory->free = memory->total - memory->used;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetMemoryInfo_v2(Device device, nvml::MemoryV2* memory) {
  return with_device(device, [&](const Target& target) {
    if (memory->version != nvml::kMemoryV2Version) return Return::kArgumentVersionMismatch;
    memory->total = total_bytes(target);
    memory->used = used_bytes(target);
    memory->reserved = 0;
    memory->free = memory->total - memory->used;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetUtilizationRates(Device device, nvml::Utilization* utilization) {
  return with_device(device, [&](const Target& target) {
    if (target.gpu->mig_enabled) return Return::kNotSupported;  // as NVML says it
    *utilization = {.gpu = target.gpu->utilization, .memory = target.gpu->utilization};
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetTemperature(Device device, unsigned int sensor, unsigned int* celsius) {
  return with_device(device, [&](const Target& target) {
    if (sensor != nvml::kTemperatureGpu) return Return::kInvalidArgument;
    *celsius = target.gpu->temperature;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetPowerUsage(Device device, unsigned int* milliwatts) {
  return with_device(device, [&](const Target& target) {
    *milliwatts = target.gpu->power_milliwatts;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetRemappedRows(Device device, unsigned int* corrected, unsigned int* uncorrected,
                                 unsigned int* pending, unsigned int* failed) {
  return with_device(device, [&](const Target& target) {
    if (target.gpu->architecture < 7) return Return::kNotSupported;  // Ampere and later
    *corrected = *uncorrected = *pending = 0;
    *failed = target.gpu->remapping_failed ? 1 : 0;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetFieldValues(Device device, int count, nvml::FieldValue* values) {
  return with_device(device, [&](const Target& target) {
    for (int i = 0; i < count; ++i) {
      nvml::FieldValue& value = values[i];
      value.result = Return::kNotSupported;
      if (value.field != nvml::kFieldRecoveryAction || !target.gpu->recovery_action) continue;
      value.value_type = 1;  // NVML_VALUE_TYPE_UNSIGNED_INT
      value.value.u32 = *target.gpu->recovery_action;
      value.result = Return::kSuccess;
    }
    return Return::kSuccess;
  });
}

}  // extern "C"
