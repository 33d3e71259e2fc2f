// SPDX-License-Identifier: Apache-2.0
#include "report/usage_text.h"

#include <cstdint>

namespace gpupool::report {
namespace {

constexpr std::int64_t kMibPerGib = 1024;

// Rounded to a tenth: "12.5", "40".
std::string gib(std::int64_t mib) {
  const auto tenths = (mib * 10 + kMibPerGib / 2) / kMibPerGib;
  const auto whole = std::to_string(tenths / 10);
  return tenths % 10 == 0 ? whole : whole + "." + std::to_string(tenths % 10);
}

}  // namespace

UsageText describe_usage(const api::GpuNodeStatus& status, const telemetry::Telemetry& telemetry) {
  std::int64_t percent = 0;
  std::int64_t gpus = 0;
  std::int64_t used = 0;
  std::int64_t total = 0;
  for (const auto& gpu : status.gpus) {
    const auto found = telemetry.readings.find(gpu.uuid);
    if (found == telemetry.readings.end()) continue;
    const auto& reading = found->second;
    if (reading.gpu_percent) {
      percent += *reading.gpu_percent;
      ++gpus;
    }
    if (reading.memory_used_mib) {
      used += *reading.memory_used_mib;
      total += gpu.memory_mib;
    }
  }
  UsageText text;
  if (gpus > 0) text.utilization = std::to_string((percent + gpus / 2) / gpus) + "%";
  if (total > 0) text.memory = gib(used) + "/" + gib(total) + "Gi";
  return text;
}

}  // namespace gpupool::report
