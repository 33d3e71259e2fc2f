// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/probe_gpu.h"

namespace gpupool::nvidia {

using nvml::Return;

namespace {

void read_memory(const NvmlFunctions& nvml, nvml::Device device, inventory::Usage& usage) {
  const auto take = [&usage](const auto& memory) {
    usage.memory_used_mib = static_cast<std::int64_t>(memory.used / nvml::kMiB);
    usage.memory_free_mib = static_cast<std::int64_t>(memory.free / nvml::kMiB);
  };
  nvml::MemoryV2 v2{};
  v2.version = nvml::kMemoryV2Version;
  if (invoke(nvml.memory_v2, device, &v2) == Return::kSuccess) return take(v2);
  nvml::Memory v1{};
  if (invoke(nvml.memory, device, &v1) == Return::kSuccess) take(v1);
}

Probed failed(const NvmlFunctions& nvml, Return code) {
  Probed probed;
  probed.result = code;
  probed.probe.result =
      code == Return::kGpuIsLost ? inventory::Probe::Result::kLost : inventory::Probe::Result::kFailing;
  probed.probe.detail = nvml.explain(code);
  probed.probe.needs_reset = code == Return::kResetRequired;
  return probed;
}

// Answers that say nothing about the GPU's health.
bool is_no_sign(Return code) {
  return code == Return::kSuccess || code == Return::kNotSupported || code == Return::kNoPermission ||
         code == Return::kFunctionNotFound || code == Return::kInvalidArgument;
}

Return sign_of_life(const NvmlFunctions& nvml, nvml::Device device) {
  nvml::Memory memory{};
  if (const Return code = invoke(nvml.memory, device, &memory); !is_no_sign(code)) return code;
  unsigned int celsius = 0;
  if (const Return code = invoke(nvml.temperature, device, nvml::kTemperatureGpu, &celsius);
      !is_no_sign(code)) {
    return code;
  }
  nvml::Utilization utilization{};
  if (const Return code = invoke(nvml.utilization, device, &utilization); !is_no_sign(code)) return code;
  return Return::kSuccess;
}

// Empty: nothing to do. Draining peer-to-peer traffic is not a matter of this GPU's slices.
std::string wanted_recovery(const NvmlFunctions& nvml, nvml::Device device) {
  nvml::FieldValue field{};
  field.field = nvml::kFieldRecoveryAction;
  if (invoke(nvml.field_values, device, 1, &field) != Return::kSuccess || field.result != Return::kSuccess) {
    return {};
  }
  switch (field.value.u32) {
    case nvml::kRecoveryGpuReset:
      return "the driver asks for a reset of the GPU";
    case nvml::kRecoveryNodeReboot:
      return "the driver asks for a reboot of the node";
    case nvml::kRecoveryDrainAndReset:
      return "the driver asks to drain and reset the GPU";
    default:
      return {};
  }
}

bool remapping_failed(const NvmlFunctions& nvml, nvml::Device device) {
  unsigned int corrected = 0;
  unsigned int uncorrected = 0;
  unsigned int pending = 0;
  unsigned int failure = 0;
  const Return code = invoke(nvml.remapped_rows, device, &corrected, &uncorrected, &pending, &failure);
  return code == Return::kSuccess && failure != 0;
}

}  // namespace

inventory::Usage read_usage(const NvmlFunctions& nvml, nvml::Device device) {
  inventory::Usage usage;
  nvml::Utilization utilization{};
  if (invoke(nvml.utilization, device, &utilization) == Return::kSuccess) usage.gpu_percent = utilization.gpu;
  read_memory(nvml, device, usage);
  unsigned int number = 0;
  if (invoke(nvml.temperature, device, nvml::kTemperatureGpu, &number) == Return::kSuccess) {
    usage.temperature_celsius = number;
  }
  if (invoke(nvml.power, device, &number) == Return::kSuccess) usage.power_milliwatts = number;
  return usage;
}

Probed probe_gpu(const NvmlFunctions& nvml, nvml::Device device) {
  if (const Return code = sign_of_life(nvml, device); code != Return::kSuccess) return failed(nvml, code);
  Probed probed;
  probed.probe.detail = wanted_recovery(nvml, device);
  probed.probe.needs_reset = !probed.probe.detail.empty();
  if (probed.probe.detail.empty() && remapping_failed(nvml, device)) {
    probed.probe.detail = "a bad row of its memory could not be remapped";
  }
  if (!probed.probe.detail.empty()) probed.probe.result = inventory::Probe::Result::kFailing;
  return probed;
}

}  // namespace gpupool::nvidia
