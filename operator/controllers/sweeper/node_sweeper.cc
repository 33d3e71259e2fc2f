#include "controllers/sweeper/node_sweeper.h"

#include <algorithm>
#include <map>

#include "api/v1alpha1/names.h"
#include "planning/assess_workers.h"
#include "planning/node_gpus.h"
#include "planning/worker_identity.h"

namespace gpupool::controllers {
namespace {

using std::chrono::seconds;
constexpr auto kRecheck = seconds(60);

// The leases that the node's label and taint name: none, one, or two. Two are there when the node controller
// of Kubernetes before 1.26 has put back the taint of an earlier lease (kubernetes/kubernetes#113136).
std::vector<std::string> marked_values(const api::Node& node) {
  std::vector<std::string> values;
  const auto& label = node.metadata.label(api::kNodeLeaseLabel);
  if (!label.empty()) values.push_back(label);
  if (const auto taint = planning::lease_taint(node); !taint.empty() && taint != label)
    values.push_back(taint);
  return values;
}

// Whether the job's lease accounts for what the node carries. While it restarts, nodes still carry the value
// before.
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

// Of a job that is gone nobody can say which pods were its workers; but others' pods are not called so.
bool has_name_of_worker(const api::Pod& pod, const std::string& value) {
  const auto lease = api::parse_lease_value(value);
  const auto* const maker = planning::maker_of(pod);
  return lease && maker != nullptr && pod.metadata.label(api::kJobUidLabel) == lease->job_uid &&
         maker->name == pod.metadata.label(api::kJobNameLabel) + "-" + std::to_string(lease->n);
}

}  // namespace

bool marked(const api::Node& node) {
  return !marked_values(node).empty() || node.metadata.annotations.contains(api::kLease) ||
         planning::has_stray_lease_taint(node);
}

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
      return none;  // it was there under this very name
  }
  const auto all = kube::list<api::GpuJob>(client_, "", {}, stop);  // the annotation may have been edited
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
  if (cached == nullptr || !marked(*cached)) {
    foreign_.forget(key.name);
    return runtime::Requeue{};
  }
  const auto uid_of = [](const std::string& value) {
    const auto parsed = api::parse_lease_value(value);
    return parsed ? parsed->job_uid : std::string();
  };
  for (const auto& value : marked_values(*cached)) {
    for (const auto& job : caches_.jobs.store().by_index(kByUid, uid_of(value))) {
      const auto newest = caches_.newest_jobs.get(job->metadata.key());
      if (newest == nullptr || !explains(*newest, *cached, value)) continue;
      if (const auto looked = foreign_.look(*cached, *newest, stop); !looked)
        return tl::unexpected<base::Error>(looked.error());
      return runtime::Requeue{kRecheck};
    }
  }
  const auto node = kube::get<api::Node>(client_, key, stop);
  if (!node && node.error().code == base::ErrorCode::kNotFound) return runtime::Requeue{};
  if (!node) return tl::unexpected<base::Error>(node.error());
  std::map<std::string, std::string> namespaces;  // of the lease values that no job holds
  for (const auto& value : marked_values(*node)) {
    const auto job = live_job(*node, uid_of(value), stop);
    if (!job) return tl::unexpected<base::Error>(job.error());
    if (*job != nullptr && explains(**job, *node, value)) return runtime::Requeue{kRecheck};
    // The node's owner can edit the annotation, and so free his own machine of what nobody holds.
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
