// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/shared_node.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "api/v1alpha1/names.h"
#include "base/quantity.h"
#include "planning/nodes/node_marks.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMilli = 1000;
// Upper bound of every number in a report or label: more than any GPU has, and sums of it do not overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 30;

std::int64_t sane(std::int64_t number) { return std::clamp<std::int64_t>(number, 0, kMost); }

// A report may contain any numbers, because the owner of the node can write it.
api::GpuNodeGpu sane(api::GpuNodeGpu gpu) {
  gpu.memory_mib = sane(gpu.memory_mib);
  for (auto* number : {&gpu.slices.total, &gpu.slices.free, &gpu.slices.memory_mib, &gpu.slices.cores}) {
    *number = sane(*number);
  }
  for (auto& pod : gpu.pods) pod.slices = sane(pod.slices);
  return gpu;
}

// floor(amount x scaling / count), in integers as in the device plugin.
std::int64_t share_of(std::int64_t amount, double scaling, std::int64_t count) {
  return amount * std::llround(scaling * static_cast<double>(kMilli)) / (kMilli * count);
}

// Returns how the cut of the GPU differs from spec.sharing; empty if it does not.
std::string broken_promise(const api::GpuNodeGpu& gpu, const api::PoolSharing& promised) {
  const auto& slices = gpu.slices;
  if (slices.total < 1) return "has no slices";
  if (promised.device_split_count && slices.total != *promised.device_split_count) {
    return "has " + std::to_string(slices.total) + " slices, and the pool promises " +
           std::to_string(*promised.device_split_count);
  }
  const auto differs = [&](const std::optional<double>& scaling, std::int64_t amount, std::int64_t each) {
    return scaling && share_of(amount, *scaling, slices.total) != each;
  };
  if (differs(promised.device_memory_scaling, gpu.memory_mib, slices.memory_mib)) {
    return "has slices of " + std::to_string(slices.memory_mib) +
           " MiB, which is not spec.sharing.deviceMemoryScaling of the pool";
  }
  if (differs(promised.device_core_scaling, 100, slices.cores)) {
    return "has slices of " + std::to_string(slices.cores) +
           " % cores, which is not spec.sharing.deviceCoreScaling of the pool";
  }
  return {};
}

// Returns why the pool does not want this GPU; empty if it does.
std::string unwanted(const api::GpuNodeGpu& gpu, const api::PoolGpus& wanted) {
  if (!wanted.models.empty() &&
      std::find(wanted.models.begin(), wanted.models.end(), gpu.model) == wanted.models.end()) {
    return "model " + gpu.model + " is not in spec.gpus.models";
  }
  if (!wanted.min_memory.empty() &&
      bytes_of(gpu.memory_mib) < base::parse_quantity(wanted.min_memory).value_or(0)) {
    return "memory is below " + wanted.min_memory;
  }
  return {};
}

SharedGpu describe_gpu(const api::GpuNodeGpu& gpu) {
  SharedGpu described;
  described.index = gpu.index;
  described.model = gpu.model;
  described.memory_mib = gpu.memory_mib;
  described.size = {gpu.slices.total, gpu.slices.memory_mib, gpu.slices.cores};
  described.healthy = gpu.health == "Healthy";
  std::int64_t in_pods = 0;
  for (const auto& pod : gpu.pods) in_pods += pod.slices;
  // The free slices in the report do not include unhealthy ones; slices in pods are counted in any case.
  if (described.healthy) described.healthy_slices = std::min(gpu.slices.total, gpu.slices.free + in_pods);
  return described;
}

class Describer {
 public:
  Describer(const api::GpuPool& pool, const Occupants& occupants)
      : pool_(pool), resource_(pool.spec.worker_resource()), occupants_(occupants) {}

  void read(const api::GpuNode& report, SharedNode& node) {
    for (const auto& reported : report.status.gpus) {
      const auto gpu = sane(reported);
      const auto held = count_pods(gpu);
      if (gpu.resource_name == resource_) node.held += held;
      const auto name = "GPU " + (gpu.index < 0 ? gpu.uuid : std::to_string(gpu.index));
      const auto reason = gpu.reason.empty() ? std::string() : ": " + gpu.reason;
      if (gpu.resource_name != resource_ || gpu.mig) {
        node.notes.push_back(name + " is not offered as " + resource_ + reason);
        continue;
      }
      auto described = describe_gpu(gpu);
      auto trouble = broken_promise(gpu, *pool_.spec.sharing);
      if (trouble.empty()) trouble = unwanted(gpu, pool_.spec.gpus);
      if (!described.healthy) {
        node.notes.push_back(name + " is not healthy" + reason);
      } else if (!trouble.empty()) {
        node.notes.push_back(name + " " + trouble);
        // A kubelet cannot be told not to use this GPU, so workers of the pool must not run on the node.
        node.unusable = name + " " + trouble;
      }
      const bool fallen_off = !described.healthy && gpu.memory_mib == 0;  // it reports no memory
      if (!trouble.empty() && !fallen_off) continue;
      described.free = std::max<std::int64_t>(0, described.healthy_slices - held);
      node.gpus.push_back(std::move(described));
    }
  }

  void add_claims(SharedNode& node) const {
    for (const auto& pod : occupants_.pods) {
      const auto shown = shown_.find({pod.ns, pod.name});
      const auto known = shown == shown_.end() ? 0 : shown->second;
      const auto slices = sane(pod.slices);
      if (known < slices) add_claim(node, slices - known);
    }
    for (const auto slices : occupants_.reserved) add_claim(node, sane(slices));
  }

 private:
  std::int64_t count_pods(const api::GpuNodeGpu& gpu) {
    std::int64_t held = 0;
    for (const auto& pod : gpu.pods) {
      if (occupants_.ended.contains({pod.ns, pod.name})) continue;
      held += pod.slices;
      shown_[{pod.ns, pod.name}] += pod.slices;
    }
    return held;
  }

  const api::GpuPool& pool_;
  std::string resource_;
  const Occupants& occupants_;
  std::map<std::pair<std::string, std::string>, std::int64_t> shown_;
};

std::string why_unusable(const SharedNode& node, const api::GpuNode* report, const std::string& resource) {
  if (report == nullptr) return "has no GpuNode report; does gpupool-device-plugin run there?";
  if (!node.unusable.empty()) return node.unusable;
  if (node.gpus.empty()) {
    if (!node.notes.empty()) return node.notes.front();
    return report->status.message.empty() ? "reports no GPU" : report->status.message;
  }
  const bool healthy =
      std::any_of(node.gpus.begin(), node.gpus.end(), [](const auto& gpu) { return gpu.healthy; });
  if (healthy && node.advertised == 0) return "has no allocatable " + resource;
  return {};
}

// Sets the fields that all GPUs have in common.
void summarize(SharedNode& node) {
  node.node.gpus = 0;
  node.node.model.clear();
  for (const auto& gpu : node.gpus) {
    if (gpu.healthy) ++node.node.gpus;
    if (gpu.model.empty()) continue;
    const bool same = node.node.model.empty() || node.node.model == gpu.model;
    node.node.model = same ? gpu.model : "mixed";
  }
}

}  // namespace

bool SharedNode::operator==(const SharedNode& other) const {
  const auto rest = [](const SharedNode& all) {
    return std::tie(all.node, all.marked, all.unusable, all.notes, all.gpus, all.advertised, all.held,
                    all.requested);
  };
  return rest(*this) == rest(other) && claims.size() == other.claims.size() &&
         std::is_permutation(claims.begin(), claims.end(), other.claims.begin());
}

void add_claim(SharedNode& node, std::int64_t slices) {
  node.held += slices;
  SharedGpu* well = nullptr;
  std::int64_t healthy = 0;
  std::int64_t largest = 1;
  for (auto& gpu : node.gpus) {
    largest = std::max(largest, gpu.size.count);
    if (!gpu.healthy) continue;
    ++healthy;
    well = &gpu;
  }
  if (healthy == 1) {
    well->free -= slices;
  } else {
    node.claims.push_back({slices, std::max<std::int64_t>(1, (slices + largest - 1) / largest)});
  }
}

namespace {

// Whether the node is marked for the pool; its taint is not one of others.
void read_marks(const api::Node& node, const api::GpuPool& pool, SharedNode& described) {
  described.marked =
      pool_taint(node) == pool.metadata.name && node.metadata.label(api::kMemberLabel) == node.metadata.uid;
  std::erase_if(described.node.foreign_taints, [&](const api::Taint& taint) {
    return taint.key == api::kPoolTaint && taint.value == pool.metadata.name;
  });
}

}  // namespace

Resources taken_by_worker(Resources requests) {
  requests.pods = 1;
  return requests;
}

SharedNode describe_node_of_gpus(const api::Node& node, const api::GpuPool& pool, const Occupants& occupants,
                                 ForeignShare foreign) {
  SharedNode described;
  described.node = describe_node(node, pool.spec.worker_resource());
  read_marks(node, pool, described);
  described.unusable = gpu_mismatch(described.node, pool.spec.gpus);
  const auto all = described.node.gpus;
  subtract(described.node, std::move(foreign));
  described.advertised = described.node.gpus;
  if (auto held = foreign_gpus_text(described.node); !held.empty())
    described.notes.push_back(std::move(held));
  if (all > 0) {
    SharedGpu gpus;
    gpus.model = described.node.model;
    gpus.memory_mib = described.node.memory / bytes_of(1);
    gpus.size.count = all;
    gpus.free = gpus.healthy_slices = described.node.gpus;
    described.gpus.push_back(std::move(gpus));
  }
  for (const auto& pod : occupants.pods) add_claim(described, sane(pod.slices));
  for (const auto slices : occupants.reserved) add_claim(described, sane(slices));
  return described;
}

SharedNode describe_shared_node(const api::Node& node, const api::GpuNode* report, const api::GpuPool& pool,
                                const Occupants& occupants) {
  SharedNode described;
  const auto& resource = pool.spec.worker_resource();
  described.node = describe_node(node, resource);
  described.advertised = described.node.gpus;
  read_marks(node, pool, described);
  Describer describer(pool, occupants);
  if (report != nullptr) describer.read(*report, described);
  describer.add_claims(described);
  summarize(described);
  described.unusable = why_unusable(described, report, resource);
  return described;
}

}  // namespace gpupool::planning
