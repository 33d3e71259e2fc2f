// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/report/facts.h"

#include "tests/support/manual_clock.h"

namespace gpupool::test {

report::Facts facts(std::int64_t gpus, std::int64_t split) {
  report::Facts facts;
  facts.inventory.driver = {"550.54.15", "12.4"};
  auto resource = test::resource("gpupool.dev/vgpu");
  for (std::int64_t index = 0; index < gpus; ++index) {
    const auto uuid = "GPU-" + std::to_string(index);
    facts.inventory.gpus.push_back(gpu(uuid, index));
    slices::SlicedGpu sliced;
    sliced.uuid = uuid;
    sliced.index = index;
    sliced.split_count = split;
    sliced.limited = split > 1;
    resource.gpus.push_back(sliced);
    for (std::int64_t ordinal = 0; ordinal < split; ++ordinal) {
      const auto id = split == 1 ? uuid : uuid + "::" + std::to_string(ordinal);
      resource.slices.push_back(slice(id, uuid, 16000 / split, 100 / split));
      resource.slices.back().ordinal = ordinal;
    }
  }
  facts.table.resources = {resource};
  return facts;
}

inventory::Gpu gpu(const std::string& uuid, std::int64_t index) {
  inventory::Gpu gpu;
  gpu.uuid = uuid;
  gpu.index = index;
  gpu.model = "NVIDIA-L4";
  gpu.memory_mib = 16000;
  gpu.compute_major = 8;
  gpu.compute_minor = 9;
  return gpu;
}

slices::Slice slice(const std::string& id, const std::string& gpu, std::int64_t memory_mib,
                    std::int64_t cores) {
  slices::Slice slice;
  slice.id = id;
  slice.gpu = gpu;
  slice.visible = gpu;
  slice.memory_mib = memory_mib;
  slice.cores = cores;
  return slice;
}

slices::Resource resource(const std::string& name) {
  slices::Resource resource;
  resource.name = name;
  return resource;
}

health::GpuHealth unhealthy(const std::string& reason, const std::string& detail) {
  health::GpuHealth state;
  state.healthy = false;
  state.reason = reason;
  state.detail = detail;
  return state;
}

telemetry::Telemetry telemetry(const std::vector<std::int64_t>& percentages) {
  telemetry::Telemetry all;
  all.taken = ManualClock::kWallStart;
  for (const auto percent : percentages) {
    const auto gpu = "GPU-" + std::to_string(all.readings.size());
    all.readings[gpu] = {.gpu_percent = percent,
                         .memory_used_mib = 4000,
                         .temperature_celsius = 61,
                         .power_milliwatts = 250500};
    all.busy[gpu] = {std::chrono::hours(1), std::chrono::hours(2), ManualClock::kWallStart};
  }
  return all;
}

kubelet::Holding holding(const std::string& pod, const std::vector<std::string>& slices) {
  kubelet::Holding holding{
      .ns = "lab", .pod = pod, .container = "main", .resource = "gpupool.dev/vgpu", .ids = {}};
  for (const auto& slice : slices) holding.ids.push_back("GPU-" + slice);
  return holding;
}

}  // namespace gpupool::test
