// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_gpus.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "api/v1alpha1/names.h"
#include "base/quantity.h"
#include "planning/nodes/lease_marks.h"
#include "planning/nodes/node_drain.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMiBPerGiB = 1024;

std::int64_t nvidia_memory(const api::ObjectMeta& metadata) {
  // GPU feature discovery writes a number of MiB without a suffix.
  return bytes_of(base::parse_quantity(metadata.label(api::kNvidiaMemoryLabel)).value_or(0));
}

std::int64_t amd_memory(const api::ObjectMeta& metadata) {
  const auto partition = metadata.label(api::kAmdPartitionLabel);
  // The label tells the memory of the card, and a resource is only a part of it.
  if (!partition.empty() && !partition.starts_with("spx")) return 0;
  auto gibibytes = metadata.label(api::kAmdMemoryLabel);
  if (!gibibytes.ends_with('G')) return 0;
  gibibytes.pop_back();
  const auto number = base::parse_quantity(gibibytes).value_or(0);
  return bytes_of(std::clamp<std::int64_t>(number, 0, std::numeric_limits<std::int32_t>::max()) * kMiBPerGiB);
}

std::int64_t intel_memory(const api::ObjectMeta& metadata) {
  constexpr std::int64_t kPerGpu = 1000;
  const auto gpus = base::parse_quantity(metadata.label(api::kIntelCountLabel)).value_or(0) / kPerGpu;
  const auto all = base::parse_quantity(metadata.label(api::kIntelMemoryLabel)).value_or(0);
  return gpus < 1 ? 0 : std::max<std::int64_t>(0, all / gpus);
}

// What the programs of one vendor tell about GPUs by labels.
struct VendorLabels {
  const char* resources;  // what the names of its resources begin with
  const char* model;
  std::int64_t (*memory)(const api::ObjectMeta&);
};
constexpr VendorLabels kNvidia{"nvidia.com/", api::kNvidiaModelLabel, nvidia_memory};
constexpr VendorLabels kAmd{"amd.com/", api::kAmdModelLabel, amd_memory};
constexpr VendorLabels kIntel{"gpu.intel.com/", api::kIntelModelLabel, intel_memory};

// By the resource and not by which labels there are, because a node may have GPUs of two vendors.
const VendorLabels& labels_for(const std::string& resource) {
  for (const auto* vendor : {&kAmd, &kIntel}) {
    if (resource.starts_with(vendor->resources)) return *vendor;
  }
  return kNvidia;  // for slices, and for resources of any other name
}

bool keeps_pods_away(const api::Taint& taint) {
  if (taint.key == api::kLease) return false;
  if (taint.effect != api::kNoSchedule && taint.effect != "NoExecute") return false;
  // Kubernetes adds these taints for what `ready` and `cordoned` already contain.
  return taint.key != "node.kubernetes.io/unschedulable" && taint.key != "node.kubernetes.io/not-ready" &&
         taint.key != "node.kubernetes.io/unreachable";
}

// Returns the first resource that a device plugin of GPUs may offer; empty if there is none.
std::string other_gpus(const api::Node& node, const std::string& wanted) {
  for (const auto& [name, amount] : node.status.allocatable) {
    const bool named_so = name.find("gpu") != std::string::npos || name.starts_with("nvidia.com/");
    if (named_so && name.find('/') != std::string::npos && name != wanted &&
        base::parse_quantity(amount).value_or(0) > 0)
      return name;
  }
  return {};
}

}  // namespace

const std::map<std::string, std::string>& PoolNode::labels() const {
  static const std::map<std::string, std::string> kNone;
  return object == nullptr ? kNone : object->metadata.labels;
}

bool PoolNode::operator==(const PoolNode& other) const {
  const auto fields = [](const PoolNode& node) {
    return std::tie(node.name, node.uid, node.gpus, node.model, node.memory, node.ready, node.cordoned,
                    node.draining, node.leased, node.offers, node.foreign_taints, node.allocatable,
                    node.foreign);
  };
  return fields(*this) == fields(other) && (object == other.object || labels() == other.labels());
}

const Resources& PoolNode::held_by_foreign() const {
  static const Resources kNothing;
  return foreign ? foreign->held : kNothing;
}

void subtract(PoolNode& node, ForeignShare foreign) {
  if (foreign == ForeignShare()) return;
  foreign.gpus = std::min(foreign.gpus, node.gpus);
  node.gpus -= foreign.gpus;
  node.foreign = std::move(foreign);
}

PoolNode without_foreign(PoolNode node) {
  node.gpus = node.all_gpus();
  node.foreign.reset();
  return node;
}

std::string foreign_gpus_text(const PoolNode& node) {
  if (!node.foreign || node.foreign->gpus == 0) return {};
  return std::to_string(node.foreign->gpus) + " of " + std::to_string(node.all_gpus()) +
         (node.all_gpus() == 1 ? " GPU" : " GPUs") + (node.foreign->gpus == 1 ? " is" : " are") +
         " held by pods of others (" + node.foreign->gpu_pod + ")";
}

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
  if (described.gpus == 0) described.offers = other_gpus(node, resource_name);
  described.allocatable = allocatable_of(node.status.allocatable);
  const auto& vendor = labels_for(resource_name);
  described.model = node.metadata.label(api::kGpuModelLabel);
  if (described.model.empty()) described.model = node.metadata.label(vendor.model);
  const auto ours = base::parse_quantity(node.metadata.label(api::kGpuMemoryLabel));
  described.memory = ours ? *ours : vendor.memory(node.metadata);
  described.ready = node.ready() && !node.metadata.deleting();
  described.cordoned = node.spec.unschedulable;
  described.draining = drain_of(node).has_value();
  described.leased = !lease_taint(node).empty();
  std::copy_if(node.spec.taints.begin(), node.spec.taints.end(), std::back_inserter(described.foreign_taints),
               keeps_pods_away);
  return described;
}

std::string gpu_mismatch(const PoolNode& node, const api::PoolGpus& wanted) {
  if (node.all_gpus() == 0) {
    auto text = "has no allocatable " + wanted.resource_name;
    if (node.offers.empty()) return text;
    text += ", but " + node.offers.string();
    if (node.offers == api::PoolSharing().resource_name)
      text +=
          ": its GPUs are cut into slices. Set spec.sharing.unit: Slice in the pool, or deviceSplitCount: 1 "
          "for "
          "the node in the device plugin's configuration";
    return text;
  }
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
