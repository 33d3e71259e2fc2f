// SPDX-License-Identifier: Apache-2.0
#include "report/node_report.h"

#include <algorithm>

#include "report/gpu_report.h"

namespace gpupool::report {
namespace {

// As the definition of GpuNode says.
constexpr std::size_t kMaxGpus = 64;
constexpr std::size_t kMaxReason = 1000;
constexpr std::size_t kMaxMessage = 4000;

constexpr char kHealthy[] = "Healthy";
constexpr char kUnhealthy[] = "Unhealthy";

std::string shortened(const std::string& text, std::size_t limit) {
  return text.size() <= limit ? text : text.substr(0, limit) + "...";
}

void add_health(const health::GpuHealth* state, api::GpuNodeGpu& gpu) {
  gpu.health = state == nullptr || state->healthy ? kHealthy : kUnhealthy;
  if (gpu.health == kUnhealthy) {
    gpu.reason = state->reason + (state->detail.empty() ? "" : ": " + state->detail);
  } else if (gpu.resource_name.empty()) {
    gpu.reason = gpu.mig ? "in MIG mode, and MIG instances are not offered" : "not offered";
  }
  gpu.reason = shortened(gpu.reason, kMaxReason);
}

const health::GpuHealth* find_state(const Facts& facts, const std::string& uuid) {
  const auto found = facts.health.find(uuid);
  return found == facts.health.end() ? nullptr : &found->second;
}

api::GpuNodeGpu present_gpu(const inventory::Gpu& found, const Facts& facts, const Use& use) {
  auto gpu = describe_offer(found.uuid, facts.table, use);
  gpu.index = found.index;
  gpu.model = found.model;
  gpu.memory_mib = found.memory_mib;
  gpu.compute_capability = std::to_string(found.compute_major) + "." + std::to_string(found.compute_minor);
  gpu.numa_node = found.numa_node;
  gpu.mig = found.mig_enabled;
  add_health(find_state(facts, found.uuid), gpu);
  return gpu;
}

// The report keeps a GPU that the driver no longer lists, so that its owner sees which one is missing.
api::GpuNodeGpu lost_gpu(const std::string& uuid, const Facts& facts, const Use& use) {
  auto gpu = describe_offer(uuid, facts.table, use);
  gpu.index = -1;
  for (const auto& resource : facts.table.resources) {
    for (const auto& sliced : resource.gpus) {
      if (sliced.uuid == uuid) gpu.index = sliced.index;
    }
  }
  add_health(find_state(facts, uuid), gpu);
  return gpu;
}

std::vector<api::GpuNodeGpu> all_gpus(const Facts& facts) {
  const auto use = count_use(facts);
  std::vector<api::GpuNodeGpu> gpus;
  gpus.reserve(facts.inventory.gpus.size());
  for (const auto& gpu : facts.inventory.gpus) gpus.push_back(present_gpu(gpu, facts, use));
  for (const auto& [uuid, state] : facts.health) {
    const bool present = std::any_of(facts.inventory.gpus.begin(), facts.inventory.gpus.end(),
                                     [&uuid = uuid](const auto& gpu) { return gpu.uuid == uuid; });
    if (!present && !state.healthy) gpus.push_back(lost_gpu(uuid, facts, use));
  }
  std::stable_sort(gpus.begin(), gpus.end(), [](const auto& a, const auto& b) {
    // Those without a number come last.
    return static_cast<std::uint64_t>(a.index) < static_cast<std::uint64_t>(b.index);
  });
  return gpus;
}

std::string say_unhealthy(const std::vector<api::GpuNodeGpu>& gpus) {
  std::string text;
  std::size_t more = 0;
  for (const auto& gpu : gpus) {
    if (gpu.health == kHealthy) continue;
    if (!text.empty()) {
      ++more;
      continue;
    }
    text = (gpu.index < 0 ? gpu.uuid : "GPU " + std::to_string(gpu.index)) + " is unhealthy: " + gpu.reason;
  }
  return more == 0 ? text : text + "; " + std::to_string(more) + " more are unhealthy";
}

api::Condition ready(const api::GpuNodeStatus& status) {
  api::Condition condition;
  condition.type = "Ready";
  condition.status = "False";
  condition.message = status.message;
  const bool usable = std::any_of(status.gpus.begin(), status.gpus.end(), [](const auto& gpu) {
    return gpu.health == kHealthy && gpu.slices.total > 0;
  });
  if (usable) {
    condition.status = "True";
    condition.reason = status.message.empty() ? "GpusOffered" : "Degraded";
  } else if (status.driver_version.empty()) {
    condition.reason = "NoDriver";
  } else {
    condition.reason = status.gpus.empty() ? "NoGpus" : "NothingOffered";
  }
  return condition;
}

}  // namespace

api::GpuNodeStatus make_status(const Facts& facts, const std::string& plugin_version) {
  api::GpuNodeStatus status;
  status.plugin_version = plugin_version;
  status.driver_version = facts.inventory.driver.version;
  status.cuda_version = facts.inventory.driver.cuda_version;
  status.gpus = all_gpus(facts);
  for (const auto& gpu : status.gpus) {
    ++status.gpu_counts.total;
    if (gpu.health == kHealthy) ++status.gpu_counts.healthy;
    status.slice_counts.total += gpu.slices.total;
    status.slice_counts.free += gpu.slices.free;
  }
  status.message = shortened(facts.problem.empty() ? say_unhealthy(status.gpus) : facts.problem, kMaxMessage);
  status.conditions = {ready(status)};
  status.excesses = facts.excesses;
  if (status.gpus.size() > kMaxGpus) status.gpus.resize(kMaxGpus);
  return status;
}

}  // namespace gpupool::report
