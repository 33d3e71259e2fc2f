// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_identity.h"

#include <algorithm>
#include <charconv>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "planning/workers/manifests.h"

namespace gpupool::planning {

const api::OwnerReference* maker_of(const api::Pod& pod) {
  for (const auto& owner : pod.metadata.owner_references) {
    if (owner.controller && (owner.kind == "Job" || owner.kind == "StatefulSet")) return &owner;
  }
  return nullptr;
}

bool is_of_job(const api::Pod& pod) {
  const auto* const maker = maker_of(pod);
  return maker != nullptr && maker->kind == api::BatchJob::kType.kind;
}

std::int64_t slices_of(const api::Pod& pod) {
  const auto text = pod.metadata.label(api::kSlicesLabel);
  std::int64_t slices = 0;
  std::from_chars(text.data(), text.data() + text.size(), slices);
  return std::max<std::int64_t>(0, slices);
}

bool is_child(const api::ObjectMeta& metadata, const api::GpuJob& job) {
  return metadata.ns == job.metadata.ns && metadata.controller_uid() == job.metadata.uid;
}

bool is_worker(const api::Pod& pod, const api::GpuJob& job, const api::ObjectMeta* maker) {
  const auto* const owner = maker_of(pod);
  if (owner == nullptr || pod.metadata.ns != job.metadata.ns ||
      pod.metadata.label(api::kJobUidLabel) != job.metadata.uid)
    return false;
  const auto lease = pod.metadata.label(api::kLease);
  const auto& current = job.status.lease;
  if (current && lease == current->id && !current->workload.empty()) return owner->uid == current->workload;
  if (maker != nullptr) return owner->uid == maker->uid && is_child(*maker, job);
  const auto value = api::parse_lease_value(lease);
  return value && value->job_uid == job.metadata.uid && owner->name == child_name(job, lease);
}

}  // namespace gpupool::planning
