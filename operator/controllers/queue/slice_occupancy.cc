// SPDX-License-Identifier: Apache-2.0
#include "controllers/queue/slice_occupancy.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {
namespace {

bool names(const std::vector<api::NodeRef>& nodes, const api::Node& node) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const api::NodeRef& ref) {
    return ref.name == node.metadata.name && ref.uid == node.metadata.uid;
  });
}

bool shares(const api::GpuJob& job) { return job.status.lease && job.status.lease->shared(); }

}  // namespace

bool has_sharers(const Caches& caches, const api::Node& node) {
  const auto pods = caches.pods.store().by_index(kByNode, node.metadata.name);
  const bool pod = std::any_of(pods.begin(), pods.end(), [&](const auto& candidate) {
    return planning::slices_of(*candidate) > 0 && !planning::has_ended(*candidate) &&
           caches.job_of(*candidate) != nullptr;
  });
  if (pod) return true;
  const auto jobs = caches.newest_jobs.list();
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const auto& job) { return shares(*job) && names(job->status.lease->nodes, node); });
}

void SliceOccupancy::add_pods(const std::string& node, const std::set<std::string>& leaving,
                              planning::Occupants& occupants, Bound& bound) const {
  for (const auto& pod : caches_.pods.store().by_index(kByNode, node)) {
    const auto slices = planning::slices_of(*pod);
    if (slices == 0 || caches_.job_of(*pod) == nullptr) continue;
    const auto& metadata = pod->metadata;
    if (planning::has_ended(*pod) || leaving.contains(metadata.label(api::kJobUidLabel))) {
      occupants.ended.insert({metadata.ns, metadata.name});
    } else {
      occupants.pods.push_back({metadata.ns, metadata.name, slices});
      ++bound[{node, metadata.label(api::kJobUidLabel)}];
    }
  }
  const base::MutexLock lock(mutex_);
  const auto gone = gone_.find(node);
  if (gone != gone_.end()) occupants.ended.insert(gone->second.begin(), gone->second.end());
}

std::map<std::string, planning::Occupants> SliceOccupancy::occupants(
    const std::vector<std::shared_ptr<const api::Node>>& nodes,
    const std::vector<std::shared_ptr<const api::GpuJob>>& sharers, const Grants& grants,
    const std::set<std::string>& leaving) const {
  std::map<std::string, planning::Occupants> all;
  std::map<std::string, std::string> uids;
  Bound bound;
  for (const auto& node : nodes) {
    uids[node->metadata.name] = node->metadata.uid;
    add_pods(node->metadata.name, leaving, all[node->metadata.name], bound);
  }
  const auto reserve = [&](const std::vector<api::NodeRef>& refs, const std::string& job,
                           std::int64_t slices) {
    for (const auto& ref : refs) {
      const auto uid = uids.find(ref.name);
      if (uid == uids.end() || uid->second != ref.uid) continue;
      const auto here = bound.find({ref.name, job});
      const auto unbound = ref.workers - (here == bound.end() ? 0 : here->second);
      if (unbound > 0)
        all[ref.name].reserved.insert(all[ref.name].reserved.end(), static_cast<std::size_t>(unbound),
                                      slices);
    }
  };
  std::set<api::ObjectKey> written;
  for (const auto& job : sharers) {
    reserve(job->status.lease->nodes, job->metadata.uid, job->status.lease->slices);
    written.insert(job->metadata.key());
  }
  for (const auto& [key, grant] : grants) {
    if (grant.slices > 0 && !written.contains(key)) reserve(grant.nodes, "", grant.slices);
  }
  return all;
}

void SliceOccupancy::on_pod_gone(const api::Pod& pod) {
  if (planning::slices_of(pod) == 0 || pod.spec.node_name.empty()) return;
  // Without a report of the node, nothing shows the pod any more, and nothing would forget it here.
  if (caches_.gpu_nodes.store().get({"", pod.spec.node_name}) == nullptr) return;
  const base::MutexLock lock(mutex_);
  gone_[pod.spec.node_name].insert({pod.metadata.ns, pod.metadata.name});
}

void SliceOccupancy::on_report(const std::string& node, const api::GpuNode* report) {
  std::set<PodName> shown;
  if (report != nullptr) {
    for (const auto& gpu : report->status.gpus) {
      for (const auto& pod : gpu.pods) shown.insert({pod.ns, pod.name});
    }
  }
  const base::MutexLock lock(mutex_);
  const auto found = gone_.find(node);
  if (found == gone_.end()) return;
  std::erase_if(found->second, [&](const PodName& name) { return !shown.contains(name); });
  if (found->second.empty()) gone_.erase(found);
}

}  // namespace gpupool::controllers
