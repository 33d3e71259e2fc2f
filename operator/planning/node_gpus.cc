#include "planning/node_gpus.h"

#include <algorithm>
#include <limits>

#include "api/v1alpha1/names.h"
#include "base/quantity.h"

namespace gpupool::planning {
namespace {

std::int64_t memory_of(const api::ObjectMeta& metadata) {
  if (const auto ours = base::parse_quantity(metadata.label(api::kGpuMemoryLabel))) return *ours;
  // GPU feature discovery writes plain MiB.
  if (const auto mebibytes = base::parse_quantity(metadata.label(api::kNvidiaMemoryLabel)))
    return bytes_of(*mebibytes);
  return 0;
}

bool keeps_pods_away(const api::Taint& taint) {
  if (taint.key == api::kLease) return false;
  if (taint.effect != api::kNoSchedule && taint.effect != "NoExecute") return false;
  // Written by Kubernetes for what `ready` and `cordoned` say already.
  return taint.key != "node.kubernetes.io/unschedulable" && taint.key != "node.kubernetes.io/not-ready" &&
         taint.key != "node.kubernetes.io/unreachable";
}

}  // namespace

std::int64_t bytes_of(std::int64_t mebibytes) {
  constexpr std::int64_t kMiB = std::int64_t{1024} * 1024;
  return std::clamp<std::int64_t>(mebibytes, 0, std::numeric_limits<std::int64_t>::max() / kMiB) * kMiB;
}

PoolNode describe_node(const api::Node& node, const std::string& resource_name) {
  PoolNode described;
  described.name = node.metadata.name;
  described.uid = node.metadata.uid;
  if (const auto found = node.status.allocatable.find(resource_name);
      found != node.status.allocatable.end()) {
    described.gpus = base::parse_quantity(found->second).value_or(0);
  }
  described.model = node.metadata.label(api::kGpuModelLabel);
  if (described.model.empty()) described.model = node.metadata.label(api::kNvidiaModelLabel);
  described.memory = memory_of(node.metadata);
  described.ready = node.ready() && !node.metadata.deleting();
  described.cordoned = node.spec.unschedulable;
  described.leased = !lease_taint(node).empty();
  std::copy_if(node.spec.taints.begin(), node.spec.taints.end(), std::back_inserter(described.foreign_taints),
               keeps_pods_away);
  return described;
}

std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker) {
  return node.gpus / gpus_per_worker;
}

std::string lease_taint(const api::Node& node) {
  for (const auto& taint : node.spec.taints) {
    if (taint.key == api::kLease && taint.effect == api::kNoSchedule) return taint.value;
  }
  return {};
}

bool has_stray_lease_taint(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [](const api::Taint& taint) {
    return taint.key == api::kLease && taint.effect != api::kNoSchedule;
  });
}

std::string pool_taint(const api::Node& node) {
  for (const auto& taint : node.spec.taints) {
    if (taint.key == api::kPoolTaint && taint.effect == api::kNoSchedule) return taint.value;
  }
  return {};
}

bool carries_lease(const api::Node& node, const std::string& id) {
  return lease_taint(node) == id && node.metadata.label(api::kNodeLeaseLabel) == id &&
         node.metadata.annotations.contains(api::kLease) && !has_stray_lease_taint(node);
}

std::string gpu_mismatch(const PoolNode& node, const api::PoolGpus& wanted) {
  if (node.gpus == 0) return "has no allocatable " + wanted.resource_name;
  if (!wanted.models.empty() &&
      std::find(wanted.models.begin(), wanted.models.end(), node.model) == wanted.models.end()) {
    return node.model.empty() ? "its GPU model is unknown"
                              : "GPU model " + node.model + " is not in spec.gpus.models";
  }
  if (wanted.min_memory.empty()) return {};
  if (node.memory < base::parse_quantity(wanted.min_memory).value_or(0)) {
    return node.memory == 0 ? "its GPU memory is unknown" : "GPU memory is below " + wanted.min_memory;
  }
  return {};
}

}  // namespace gpupool::planning
