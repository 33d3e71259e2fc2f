// SPDX-License-Identifier: Apache-2.0
#include "planning/job/kept_workers.h"

#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/lease_value.h"
#include "api/v1alpha1/names.h"
#include "planning/job/end_workers.h"
#include "planning/job/settle_attempt.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::planning {
namespace {

std::int64_t number_of(const Child& child) {
  const auto value = api::parse_lease_value(child.lease_id);
  return value ? value->n : 0;
}

}  // namespace

bool stays(const Observation& seen, const api::Pod& pod) {
  const auto& statuses = pod.status.container_statuses;
  const bool ended = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  return ended && !seen.job.metadata.deleting() && !pod.metadata.deleting() && is_of_job(pod) &&
         has_ended(pod) && std::any_of(statuses.begin(), statuses.end(), has_begun);
}

bool stays(const Observation& seen, const Child& child) {
  if (child.type != &api::BatchJob::kType || child.deleting || seen.job.metadata.deleting()) return false;
  bool has_pods = false;
  for (const auto& pod : seen.pods) {
    if (pod->metadata.controller_uid() != child.uid) continue;
    if (!stays(seen, *pod)) return false;
    has_pods = true;
  }
  return has_pods || child.ended;
}

namespace {

// A Job that has succeeded is not in the cache any more; one that has failed is there, or not yet.
bool is_counted(const Observation& seen, const api::Pod& pod) {
  const auto maker = std::find_if(seen.children.begin(), seen.children.end(), [&](const Child& child) {
    return child.uid == pod.metadata.controller_uid();
  });
  return maker == seen.children.end() ? pod.status.phase == "Succeeded" : maker->ended;
}

}  // namespace

std::vector<Child> oldest_kept(const Observation& seen, const std::string& keep) {
  std::vector<Child> kept;
  for (const auto& child : seen.children) {
    if (child.lease_id != keep && child.ended && stays(seen, child)) kept.push_back(child);
  }
  if (kept.size() <= kKeptAttempts) return {};
  std::sort(kept.begin(), kept.end(),
            [](const Child& a, const Child& b) { return number_of(a) < number_of(b); });
  kept.resize(kept.size() - kKeptAttempts);
  return kept;
}

std::optional<Step> release_kept(const Observation& seen) {
  if (seen.released) return std::nullopt;
  const std::string current = seen.job.status.lease ? seen.job.status.lease->id : "";
  step::ReleasePods release;
  for (const auto& pod : seen.pods) {
    const bool old = pod->metadata.label(api::kLease) != current;
    if (old && pod->metadata.has_finalizer(api::kWorkerFinalizer) && stays(seen, *pod) &&
        is_counted(seen, *pod) && is_unmarked(seen, *pod) && !awaits_settlement(seen, *pod))
      release.pods.push_back(pod);
  }
  if (release.pods.empty()) return std::nullopt;
  return release;
}

}  // namespace gpupool::planning
