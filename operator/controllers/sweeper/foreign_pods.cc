#include "controllers/sweeper/foreign_pods.h"

#include <algorithm>

#include "api/core/pod.h"
#include "api/v1alpha1/names.h"

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
  if (pod.metadata.label(api::kJobUidLabel) == holder.metadata.uid) return false;
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

bool ForeignPods::is_news(const std::string& node, const std::string& uid) {
  const std::lock_guard lock(mutex_);
  return told_[node].insert(uid).second;
}

void ForeignPods::forget(const std::string& node) {
  const std::lock_guard lock(mutex_);
  told_.erase(node);
}

base::Result<void> ForeignPods::look(const api::Node& node, const api::GpuJob& holder, std::stop_token stop) {
  const auto& name = node.metadata.name;
  kube::ListOptions options;
  options.field_selector = "spec.nodeName=" + name;
  // From the server's cache, which has an index of nodes; of a newer state it would read every pod there is.
  options.resource_version = "0";
  const auto pods = kube::list<api::Pod>(client_, "", options, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuJob::kType.kind),
                                       holder.metadata.key(), holder.metadata.uid,
                                       holder.metadata.resource_version};
  for (const auto& pod : *pods) {
    if (!is_foreign(pod, holder) || !is_news(name, pod.metadata.uid)) continue;
    found_.increment();
    events_.record(
        about, runtime::EventType::kWarning, "ForeignPod", "Look",
        "pod " + pod.metadata.key().to_string() + " came to node " + name + ", which this job holds alone");
  }
  return {};
}

}  // namespace gpupool::controllers
