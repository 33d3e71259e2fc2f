#include "controllers/sweeper/foreign_pods.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/names.h"
#include "planning/worker_identity.h"

namespace gpupool::controllers {
namespace {

constexpr char kMirror[] = "kubernetes.io/config.mirror";  // a static pod of the kubelet's own

bool over(const api::Pod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }

bool of_daemon_set(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [](const api::OwnerReference& owner) { return owner.kind == "DaemonSet"; });
}

// What ran there before the job came stays, and daemons come at any time.
bool is_foreign(const api::Pod& pod, const api::GpuJob& holder) {
  if (planning::is_worker(pod, holder, nullptr)) return false;
  if (over(pod) || of_daemon_set(pod) || pod.metadata.annotations.contains(kMirror)) return false;
  const auto& start = holder.status.start_time;
  return start && pod.metadata.creation_timestamp && *pod.metadata.creation_timestamp > *start;
}

}  // namespace

ForeignPods::ForeignPods(kube::Client& client, runtime::EventRecorder& events, base::Metrics& metrics)
    : client_(client),
      events_(events),
      found_(metrics.counter("gpupool_foreign_pods_total",
                             "Pods of others that came to a node while a job held it alone")) {}

void ForeignPods::forget(const std::string& node) {
  const std::lock_guard lock(mutex_);
  nodes_.erase(node);
}

void ForeignPods::came(const std::shared_ptr<const api::Pod>& pod) {
  const std::lock_guard lock(mutex_);
  // On a node that was not looked at yet the list will show it.
  if (const auto known = nodes_.find(pod->spec.node_name); known != nodes_.end())
    known->second.newcomers.push_back(pod);
}

void ForeignPods::doubt() {
  const std::lock_guard lock(mutex_);
  for (auto& [node, seen] : nodes_) seen.listed = false;
}

void ForeignPods::tell(const std::string& node, const api::GpuJob& holder, const api::Pod& pod) {
  if (!is_foreign(pod, holder)) return;
  {
    const std::lock_guard lock(mutex_);
    if (!nodes_[node].told.insert(pod.metadata.uid).second) return;
  }
  found_.increment();
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuJob::kType.kind),
                                       holder.metadata.key(), holder.metadata.uid,
                                       holder.metadata.resource_version};
  events_.record(
      about, runtime::EventType::kWarning, "ForeignPod", "Look",
      "pod " + pod.metadata.key().to_string() + " came to node " + node + ", which this job holds alone");
}

base::Result<void> ForeignPods::list(const std::string& node, const api::GpuJob& holder,
                                     std::stop_token stop) {
  kube::ListOptions options;
  options.field_selector = "spec.nodeName=" + node;
  // From the server's cache, which has an index of nodes; of a newer state it would read every pod there is.
  options.resource_version = "0";
  const auto pods = kube::list<api::Pod>(client_, "", options, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  for (const auto& pod : *pods) tell(node, holder, pod);
  return {};
}

base::Result<void> ForeignPods::look(const api::Node& node, const api::GpuJob& holder, std::stop_token stop) {
  const auto& name = node.metadata.name;
  std::vector<std::shared_ptr<const api::Pod>> newcomers;
  bool listed = false;
  {
    const std::lock_guard lock(mutex_);
    auto& seen = nodes_[name];
    if (seen.holder != holder.metadata.uid) seen = {.holder = holder.metadata.uid};
    listed = std::exchange(seen.listed, true);
    newcomers = std::exchange(seen.newcomers, {});
  }
  for (const auto& pod : newcomers) tell(name, holder, *pod);
  if (listed) return {};
  auto done = list(name, holder, stop);
  if (!done) {
    const std::lock_guard lock(mutex_);
    nodes_[name].listed = false;
  }
  return done;
}

}  // namespace gpupool::controllers
