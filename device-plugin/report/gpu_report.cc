// SPDX-License-Identifier: Apache-2.0
#include "report/gpu_report.h"

#include <algorithm>

namespace gpupool::report {
namespace {

constexpr std::size_t kMaxPods = 100;  // as the definition of GpuNode says

// The UUID of the physical GPU by device ID, for IDs that do not contain it.
std::map<std::string, std::string> gpus_by_id(const Facts& facts) {
  std::map<std::string, std::string> gpus;
  for (const auto& gpu : facts.inventory.gpus) {
    for (const auto& instance : gpu.mig_instances) gpus[instance.uuid] = gpu.uuid;
  }
  for (const auto& resource : facts.table.resources) {
    for (const auto& slice : resource.slices) gpus[slice.id] = slice.gpu;
  }
  return gpus;
}

std::vector<api::GpuNodePod> pods_of(const std::string& uuid, const Use& use) {
  std::vector<api::GpuNodePod> pods;
  const auto found = use.pods.find(uuid);
  if (found == use.pods.end()) return pods;
  for (const auto& [pod, slices] : found->second) {
    if (pods.size() == kMaxPods) break;
    pods.push_back({pod.first, pod.second, slices});
  }
  return pods;
}

// Reports the smallest slice: MIG instances of one GPU differ, and any of them may be allocated.
void add_slice(const slices::Slice& slice, bool free, api::GpuNodeSlices& slices) {
  slices.memory_mib = slices.total == 0 ? slice.memory_mib : std::min(slices.memory_mib, slice.memory_mib);
  slices.cores = slices.total == 0 ? slice.cores : std::min(slices.cores, slice.cores);
  ++slices.total;
  if (free) ++slices.free;
}

}  // namespace

Use count_use(const Facts& facts) {
  const auto gpus = gpus_by_id(facts);
  Use use;
  for (const auto& holding : facts.holdings) {
    for (const auto& id : holding.ids) {
      use.ids.insert(id);
      const auto known = gpus.find(id);
      // An ID that is not offered any more: "<GPU UUID>::<ordinal>", or a whole GPU.
      const auto& gpu = known != gpus.end() ? known->second : id.substr(0, id.find("::"));
      ++use.pods[gpu][{holding.ns, holding.pod}];
    }
  }
  return use;
}

api::GpuNodeGpu describe_offer(const std::string& uuid, const slices::Table& table, const Use& use) {
  api::GpuNodeGpu gpu;
  gpu.uuid = uuid;
  for (const auto& resource : table.resources) {
    bool offered = false;
    for (const auto& slice : resource.slices) {
      if (slice.gpu != uuid) continue;
      offered = true;
      add_slice(slice, slice.healthy && !use.ids.contains(slice.id), gpu.slices);
      if (!slice.healthy && gpu.reason.empty()) gpu.reason = slice.unhealthy_reason;
    }
    if (offered) gpu.resource_name += (gpu.resource_name.empty() ? "" : ",") + resource.name;
  }
  gpu.pods = pods_of(uuid, use);
  return gpu;
}

}  // namespace gpupool::report
