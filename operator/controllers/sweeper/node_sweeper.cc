// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweeper/node_sweeper.h"

#include <algorithm>
#include <map>

#include "api/v1alpha1/names.h"
#include "planning/nodes/lease_marks.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {
namespace {

using std::chrono::seconds;
constexpr auto kRecheck = seconds(60);

// True if the job's lease explains the mark on the node. While the job restarts, nodes may still carry the
// previous value.
bool explains(const api::GpuJob& job, const api::Node& node, const std::string& value) {
  if (!job.status.lease) return false;
  const auto& lease = *job.status.lease;
  const auto& name = node.metadata.name;
  const auto& uid = node.metadata.uid;
  const bool held = !lease.shared() &&
                    std::any_of(lease.nodes.begin(), lease.nodes.end(),
                                [&](const api::NodeRef& ref) { return ref.name == name && ref.uid == uid; });
  return held || std::any_of(lease.lost.begin(), lease.lost.end(), [&](const api::LostNode& lost) {
           return lost.name == name && lost.uid == uid && lost.id == value;
         });
}

api::ObjectKey parse_key(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return {};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

// If the job is gone, its workers cannot be verified; the name of the pod is the evidence, because foreign
// pods do not have such names.
bool has_name_of_worker(const api::Pod& pod, const std::string& value) {
  const auto lease = api::parse_lease_value(value);
  const auto* const maker = planning::maker_of(pod);
  return lease && maker != nullptr && pod.metadata.label(api::kJobUidLabel) == lease->job_uid &&
         maker->name == pod.metadata.label(api::kJobNameLabel) + "-" + std::to_string(lease->n);
}

}  // namespace

base::Result<std::shared_ptr<const api::GpuJob>> NodeSweeper::live_job(const api::Node& node,
                                                                       const std::string& uid,
                                                                       std::stop_token stop) {
  std::shared_ptr<const api::GpuJob> none;
  if (uid.empty()) return none;
  auto key = parse_key(node.metadata.annotation(api::kLease));
  if (const auto cached = caches_.jobs.store().by_index(kByUid, uid); !cached.empty())
    key = cached[0]->metadata.key();
  if (!key.name.empty()) {
    auto job = kube::get<api::GpuJob>(client_, key, stop);
    if (!job && job.error().code != base::ErrorCode::kNotFound)
      return tl::unexpected<base::Error>(job.error());
    if (job && job->metadata.uid == uid) return std::make_shared<const api::GpuJob>(*std::move(job));
    if (!caches_.jobs.store().by_index(kByUid, uid).empty())
      return none;  // the cache has the job under this key, and the server no longer has it
  }
  // All jobs, because somebody may have edited the annotation.
  const auto all = kube::list<api::GpuJob>(client_, "", {}, stop);
  if (!all) return tl::unexpected<base::Error>(all.error());
  for (const auto& job : *all) {
    if (job.metadata.uid == uid) return std::make_shared<const api::GpuJob>(job);
  }
  return none;
}

base::Result<bool> NodeSweeper::end_pods(const std::string& node, const std::string& value,
                                         const std::string& ns, std::stop_token stop) {
  kube::ListOptions options;
  options.label_selector = std::string(api::kLease) + "=" + value;
  options.field_selector = "spec.nodeName=" + node;
  const auto pods = kube::list<api::Pod>(client_, ns, options, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  bool ended = true;
  for (const auto& pod : *pods) {
    if (!has_name_of_worker(pod, value)) continue;
    if (!pod.metadata.deleting()) {
      if (const auto done = pods_.remove(pod, false, stop); !done)
        return tl::unexpected<base::Error>(done.error());
    }
    if (!planning::has_ended(pod)) {
      ended = false;
    } else if (const auto done = pods_.take_finalizer_off(pod, stop); !done) {
      return tl::unexpected<base::Error>(done.error());
    }
  }
  return ended;
}

base::Result<runtime::Requeue> NodeSweeper::reconcile(const api::ObjectKey& key, const base::Log& log,
                                                      std::stop_token stop) {
  const auto cached = caches_.newest_nodes.get(key);
  if (cached == nullptr || !planning::has_lease_marks(*cached)) {
    foreign_.forget(key.name);
    return runtime::Requeue{};
  }
  const auto uid_of = [](const std::string& value) {
    const auto parsed = api::parse_lease_value(value);
    return parsed ? parsed->job_uid : std::string();
  };
  for (const auto& value : planning::lease_values(*cached)) {
    for (const auto& job : caches_.jobs.store().by_index(kByUid, uid_of(value))) {
      const auto newest = caches_.newest_jobs.get(job->metadata.key());
      if (newest == nullptr || !explains(*newest, *cached, value)) continue;
      foreign_.look(*cached, *newest);
      return runtime::Requeue{kRecheck};
    }
  }
  const auto node = kube::get<api::Node>(client_, key, stop);
  if (!node && node.error().code == base::ErrorCode::kNotFound) return runtime::Requeue{};
  if (!node) return tl::unexpected<base::Error>(node.error());
  std::map<std::string, std::string> namespaces;  // of lease values that no job's lease explains
  for (const auto& value : planning::lease_values(*node)) {
    const auto job = live_job(*node, uid_of(value), stop);
    if (!job) return tl::unexpected<base::Error>(job.error());
    if (*job != nullptr && explains(**job, *node, value)) return runtime::Requeue{kRecheck};
    // The annotation can be edited by the owner of the node. At worst this frees his own machine from marks
    // that no job explains.
    namespaces[value] =
        *job != nullptr ? (*job)->metadata.ns : parse_key(node->metadata.annotation(api::kLease)).ns;
  }
  std::string removed;
  for (const auto& [value, ns] : namespaces) {
    removed += (removed.empty() ? "" : " ") + value;
    const auto ended = end_pods(key.name, value, ns, stop);
    if (!ended) return tl::unexpected<base::Error>(ended.error());
    if (!*ended) return runtime::Requeue{seconds(1)};
  }
  const auto done = nodes_.strip(*node, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  log.info("removed a lease that no job holds", {{"node", key.name}, {"lease", removed}});
  return runtime::Requeue{};
}

}  // namespace gpupool::controllers
