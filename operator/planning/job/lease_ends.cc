// SPDX-License-Identifier: Apache-2.0
#include "planning/job/lease_ends.h"

#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "planning/workers/manifests.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::planning {
namespace {

const api::ResourceType* maker_of(const api::GpuJob& job) {
  return is_gang(job.spec) ? &api::StatefulSet::kType : &api::BatchJob::kType;
}

bool is_maker(const api::ResourceType* type) { return type != &api::Service::kType; }

}  // namespace

void LeaseEnds::deleted(const Child& child) {
  const auto lease = api::parse_lease_value(child.lease_id);
  if (!lease) return;
  auto& end = ends_[lease->job_uid];
  if (end.lease_id != child.lease_id) end = {child.lease_id};
  end.deleted.insert(child.type);
}

void LeaseEnds::deleted(const api::Pod& pod) {
  if (pod.spec.node_name.empty() || !has_deleted_maker_of(pod)) return;
  auto& end = ends_.at(api::parse_lease_value(pod.metadata.label(api::kLease))->job_uid);
  if (end.pod_uid.empty()) end.pod_uid = pod.metadata.uid;
}

bool LeaseEnds::has_deleted_maker_of(const api::Pod& pod) const {
  const auto id = pod.metadata.label(api::kLease);
  const auto lease = api::parse_lease_value(id);
  const auto found = lease ? ends_.find(lease->job_uid) : ends_.end();
  if (found == ends_.end() || found->second.lease_id != id) return false;
  const auto& deleted = found->second.deleted;
  return std::any_of(deleted.begin(), deleted.end(), is_maker);
}

bool LeaseEnds::shown(const api::GpuJob& job, const Pods& pods) const {
  const auto& lease = job.status.lease;
  if (!lease || !lease->lost.empty() || job.status.lease_sequence != 1) return false;
  if (lease->spec_hash != api::spec_hash(job.spec)) return false;
  const auto found = ends_.find(job.metadata.uid);
  if (found == ends_.end() || found->second.lease_id != lease->id) return false;
  const auto& end = found->second;
  const bool all = end.deleted.contains(maker_of(job)) &&
                   (!is_gang(job.spec) || end.deleted.contains(&api::Service::kType));
  return all && !end.pod_uid.empty() && std::none_of(pods.begin(), pods.end(), [&](const auto& pod) {
           return pod->metadata.uid == end.pod_uid && !pod->metadata.deleting();
         });
}

}  // namespace gpupool::planning
