// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweeper/foreign_pods.h"

#include <functional>
#include <optional>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {
namespace {

bool over(const api::Pod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }

bool came_after_start(const std::optional<base::WallTime>& created, const api::GpuJob& holder) {
  const auto& start = holder.status.start_time;
  return start && created && *created > *start;
}

}  // namespace

ForeignPods::ForeignPods(const Caches& caches, runtime::EventRecorder& events, base::Metrics& metrics)
    : caches_(caches),
      events_(events),
      found_(metrics.counter("gpupool_foreign_pods_total",
                             "Pods of others that came to a node while a job held it alone")) {}

void ForeignPods::forget(const std::string& node) {
  const base::MutexLock lock(mutex_);
  nodes_.erase(node);
}

void ForeignPods::tell(const std::string& node, const api::GpuJob& holder, std::size_t pod,
                       const api::ObjectKey& key) {
  {
    const base::MutexLock lock(mutex_);
    auto& seen = nodes_[node];
    if (seen.holder != holder.metadata.uid) seen = {.holder = holder.metadata.uid};
    if (!seen.told.insert(pod).second) return;
  }
  found_.increment();
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuJob::kType.kind),
                                       holder.metadata.key(), holder.metadata.uid,
                                       holder.metadata.resource_version};
  events_.record(about, runtime::EventType::kWarning, api::event::kForeignPod, "Look",
                 "pod " + key.to_string() + " came to node " + node + ", which this job holds alone");
}

void ForeignPods::look(const api::Node& node, const api::GpuJob& holder) {
  const auto& name = node.metadata.name;
  for (const auto& pod : caches_.foreign_pods.on_node(name)) {
    if (pod.details && pod.details->intruder && came_after_start(pod.details->created, holder))
      tell(name, holder, pod.pod, pod.details->key);
  }
  // Pods with our labels are in the other cache, whoever made them.
  for (const auto& pod : caches_.pods.store().by_index(kByNode, name)) {
    if (!planning::is_worker(*pod, holder, nullptr) && !over(*pod) &&
        came_after_start(pod->metadata.creation_timestamp, holder))
      tell(name, holder, std::hash<std::string>()(pod->metadata.uid), pod->metadata.key());
  }
}

}  // namespace gpupool::controllers
