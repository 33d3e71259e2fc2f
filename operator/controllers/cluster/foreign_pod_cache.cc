// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/foreign_pod_cache.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/names.h"
#include "runtime/cache/watch_event.h"

namespace gpupool::controllers {
namespace {

runtime::ReflectorOptions bound_pods_of_others() {
  runtime::ReflectorOptions options;
  options.label_selector = std::string("!") + api::kJobUidLabel;
  // Pods that have ended hold nothing, and may be many.
  options.field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
  return options;
}

std::size_t hash_of_uid(const api::ForeignPod& pod) { return std::hash<std::string>()(pod.metadata.uid); }

bool is_intruder(const api::ForeignPodMeta& metadata) {
  return metadata.annotations.mirror.empty() &&
         std::ranges::none_of(metadata.owner_references,
                              [](const auto& owner) { return owner.kind == "DaemonSet"; });
}

bool same(const ForeignPodOnNode& a, const ForeignPodOnNode& b) {
  const bool details = a.details == b.details || (a.details && b.details && *a.details == *b.details);
  return a.pod == b.pod && *a.requests == *b.requests && details;
}

template <class OnNode>
auto position(OnNode& pods, std::size_t pod) {
  return std::ranges::lower_bound(pods, pod, {}, &ForeignPodOnNode::pod);
}

}  // namespace

ForeignPodCache::ForeignPodCache(kube::Client& client, base::Clock& clock, base::Metrics& metrics,
                                 const base::Log& log)
    : reflector_(client, api::ForeignPod::kType, bound_pods_of_others(), *this, clock, metrics, log) {}

std::vector<ForeignPodOnNode> ForeignPodCache::on_node(const std::string& node) const {
  const base::MutexLock lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::vector<ForeignPodOnNode>() : found->second;
}

std::shared_ptr<const planning::Resources> ForeignPodCache::shared(planning::Resources requests) {
  auto one = std::make_shared<const planning::Resources>(std::move(requests));
  const auto found = *known_.insert(std::move(one)).first;
  if (known_.size() >= prune_at_) {
    std::erase_if(known_, [](const auto& each) { return each.use_count() == 1; });
    prune_at_ = std::max<std::size_t>(64, 2 * known_.size());
  }
  return found;
}

ForeignPodOnNode ForeignPodCache::describe(const api::ForeignPod& pod) {
  auto requests = planning::requests_of(pod.spec.containers, pod.spec.init_containers);
  requests += planning::requests_of(api::TemplateResources{pod.spec.overhead, {}});
  ForeignPodOnNode described{hash_of_uid(pod), shared(std::move(requests)), nullptr};
  const auto& metadata = pod.metadata;
  const bool intruder = is_intruder(metadata);
  if (intruder || !described.requests->others.empty()) {
    described.details = std::make_shared<const ForeignPodOnNode::Details>(
        ForeignPodOnNode::Details{{metadata.ns, metadata.name}, metadata.creation_timestamp, intruder});
  }
  return described;
}

void ForeignPodCache::apply(const api::ForeignPod& pod) {
  if (pod.spec.node_name.empty()) return;
  auto described = describe(pod);
  {
    const base::MutexLock lock(mutex_);
    auto& pods = nodes_[pod.spec.node_name];
    const auto place = position(pods, described.pod);
    if (place == pods.end() || place->pod != described.pod) {
      pods.insert(place, std::move(described));
    } else if (same(*place, described)) {
      return;  // most events: the status has changed
    } else {
      *place = std::move(described);
    }
  }
  tell(pod.spec.node_name);
}

void ForeignPodCache::remove(const api::ForeignPod& pod) {
  {
    const base::MutexLock lock(mutex_);
    const auto node = nodes_.find(pod.spec.node_name);
    if (node == nodes_.end()) return;
    auto& pods = node->second;
    const auto place = position(pods, hash_of_uid(pod));
    if (place == pods.end() || place->pod != hash_of_uid(pod)) return;
    pods.erase(place);
    if (pods.empty()) nodes_.erase(node);
  }
  tell(pod.spec.node_name);
}

base::Result<void> ForeignPodCache::item(std::string_view text) {
  const auto pod = base::json::read<api::ForeignPod>(text);
  if (!pod) return tl::unexpected<base::Error>(pod.error());
  if (!pod->spec.node_name.empty()) collected_[pod->spec.node_name].push_back(describe(*pod));
  return {};
}

void ForeignPodCache::commit() {
  for (auto& [node, pods] : collected_) std::ranges::sort(pods, {}, &ForeignPodOnNode::pod);
  std::vector<std::string> changed;
  {
    const base::MutexLock lock(mutex_);
    std::swap(nodes_, collected_);
    for (const auto& [node, pods] : nodes_) {
      const auto before = collected_.find(node);
      if (before == collected_.end() || !std::ranges::equal(before->second, pods, same))
        changed.push_back(node);
    }
    for (const auto& [node, pods] : collected_) {
      if (!nodes_.contains(node)) changed.push_back(node);
    }
  }
  ByNode().swap(collected_);
  for (const auto& node : changed) tell(node);
}

base::Result<std::string> ForeignPodCache::event(std::string_view type, std::string_view line) {
  const auto changed = base::json::read<runtime::WatchEvent<api::ForeignPod>>(line);
  if (!changed) return tl::unexpected<base::Error>(changed.error());
  if (type == "DELETED") {
    remove(changed->object);
  } else {
    apply(changed->object);
  }
  return changed->object.metadata.resource_version;
}

void ForeignPodCache::tell(const std::string& node) const {
  for (const auto& handler : handlers_) handler(node);
}

}  // namespace gpupool::controllers
