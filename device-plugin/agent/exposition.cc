// SPDX-License-Identifier: Apache-2.0
#include "agent/exposition.h"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "agent/enforcement_exposition.h"
#include "agent/metric_family.h"

namespace gpupool::agent {

namespace {

constexpr std::size_t kMaxSlices = 2000;
std::string thousandths(std::int64_t value) {
  const auto rest = std::to_string(value % 1000);
  return std::to_string(value / 1000) + "." + std::string(3 - rest.size(), '0') + rest;
}

std::string bytes(std::int64_t mib) { return std::to_string(mib * 1024 * 1024); }

std::string seconds(base::Duration time) {
  return thousandths(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// Counters of GPUs that do not answer are shown too: a counter that vanishes looks like one that began anew.
std::string expose_busy_times(const telemetry::Telemetry& telemetry) {
  Family busy("gpupool_gpu_busy_seconds_total", "Integral of the utilization over time.", "counter");
  Family sampled("gpupool_gpu_sampled_seconds_total", "Time that the busy seconds are about.", "counter");
  for (const auto& [gpu, time] : telemetry.busy) {
    busy.add({{"gpu", gpu}}, seconds(time.busy));
    sampled.add({{"gpu", gpu}}, seconds(time.sampled));
  }
  return busy.text() + sampled.text();
}

std::string expose_gpus(const Snapshot& snapshot) {
  Family info("gpupool_gpu_info", "A GPU of this node; always 1.");
  Family healthy("gpupool_gpu_healthy", "Whether the GPU is healthy.");
  Family total("gpupool_gpu_memory_total_bytes", "Memory of the GPU.");
  Family used("gpupool_gpu_memory_used_bytes", "Memory of the GPU in use, as its driver says.");
  Family busy("gpupool_gpu_utilization_ratio", "Part of the last sample period in which a kernel ran.");
  Family heat("gpupool_gpu_temperature_celsius", "Temperature of the GPU.");
  Family power("gpupool_gpu_power_watts", "Power that the GPU draws.");
  for (const auto& gpu : snapshot.facts.inventory.gpus) {
    const Family::Labels labels{{"gpu", gpu.uuid}};
    info.add({{"gpu", gpu.uuid},
              {"index", std::to_string(gpu.index)},
              {"model", gpu.model},
              {"driver", snapshot.facts.inventory.driver.version}},
             "1");
    const auto state = snapshot.facts.health.find(gpu.uuid);
    healthy.add(labels, state == snapshot.facts.health.end() || state->second.healthy ? "1" : "0");
    total.add(labels, bytes(gpu.memory_mib));
    const auto reading = snapshot.facts.telemetry.readings.find(gpu.uuid);
    if (reading == snapshot.facts.telemetry.readings.end()) continue;
    const auto& now = reading->second;
    if (now.memory_used_mib) used.add(labels, bytes(*now.memory_used_mib));
    if (now.gpu_percent) busy.add(labels, thousandths(*now.gpu_percent * 10));
    if (now.temperature_celsius) heat.add(labels, std::to_string(*now.temperature_celsius));
    if (now.power_milliwatts) power.add(labels, thousandths(*now.power_milliwatts));
  }
  return info.text() + healthy.text() + total.text() + used.text() + busy.text() + heat.text() + power.text();
}

std::string expose_slices(const Snapshot& snapshot) {
  // By resource and ID: MIG instances and slices never share one.
  std::map<std::pair<std::string, std::string>, const kubelet::Holding*> holders;
  for (const auto& holding : snapshot.facts.holdings) {
    for (const auto& id : holding.ids) holders[{holding.resource, id}] = &holding;
  }
  Family each("gpupool_slice_allocated", "Whether a container holds the slice, and which.");
  Family sums("gpupool_slices", "Slices of the GPU by what they are: allocated, free or unhealthy.");
  std::size_t count = 0;
  for (const auto& resource : snapshot.facts.table.resources) {
    std::map<std::string, std::map<std::string, std::int64_t>> states;
    for (const auto& slice : resource.slices) {
      const auto holder = holders.find({resource.name, slice.id});
      const bool held = holder != holders.end();
      ++states[slice.gpu][held ? "allocated" : slice.healthy ? "free" : "unhealthy"];
      if (++count > kMaxSlices) continue;
      const kubelet::Holding none;
      const auto& who = held ? *holder->second : none;
      each.add({{"resource", resource.name},
                {"slice", slice.id},
                {"gpu", slice.gpu},
                {"namespace", who.ns},
                {"pod", who.pod},
                {"container", who.container}},
               held ? "1" : "0");
    }
    for (const auto& [gpu, by_state] : states) {
      for (const auto& [state, number] : by_state) {
        sums.add({{"resource", resource.name}, {"gpu", gpu}, {"state", state}}, std::to_string(number));
      }
    }
  }
  return sums.text() + each.text();
}

}  // namespace

std::string expose(const Snapshot& snapshot) {
  return expose_gpus(snapshot) + expose_busy_times(snapshot.facts.telemetry) + expose_slices(snapshot) +
         expose_enforcement(snapshot.enforced, snapshot.findings);
}

}  // namespace gpupool::agent
