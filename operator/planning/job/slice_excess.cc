// SPDX-License-Identifier: Apache-2.0
#include "planning/job/slice_excess.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/attempt_end.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

constexpr std::size_t kMaxDevice = 96;  // bytes of a UUID, as in the schema

struct ExceededSlices {
  std::int64_t rank = 0;
  std::string node;
  api::GpuNodeExcess excess;
};

bool is_about(const api::GpuNodeExcess& excess, const api::Pod& pod) {
  return !excess.pod_uid.empty() && excess.pod_uid == pod.metadata.uid && excess.pod == pod.metadata.name &&
         excess.ns == pod.metadata.ns;
}

bool runs_now(const Observation& seen, const api::Pod& pod) {
  if (pod.metadata.label(api::kLease) != seen.job.status.lease->id) return false;
  const auto state = assess_worker(pod, seen.worker_container, rank_of(pod)).state;
  return state == WorkerState::kRunning || state == WorkerState::kUnproven;
}

// The excess of the lowest rank, so that the order of the pods does not matter.
void look_at(const Observation& seen, const std::string& node, const api::GpuNode& report, bool end,
             std::optional<ExceededSlices>& found) {
  for (const auto& pod : seen.pods) {
    if (pod->spec.node_name != node) continue;
    const auto rank = rank_of(*pod);
    if (found && found->rank <= rank) continue;
    const auto excess = std::ranges::find_if(report.status.excesses, [&](const api::GpuNodeExcess& one) {
      return one.end == end && is_about(one, *pod);
    });
    if (excess != report.status.excesses.end() && runs_now(seen, *pod)) found = {rank, node, *excess};
  }
}

std::optional<ExceededSlices> find_excess(const Observation& seen, bool end) {
  std::optional<ExceededSlices> found;
  for (const auto& ref : seen.job.status.lease->nodes) {
    const auto node = seen.node(ref.name);
    if (node == nullptr || node->metadata.uid != ref.uid) continue;
    const auto report = seen.report_of(*node);
    if (report != nullptr && !report->status.excesses.empty()) look_at(seen, ref.name, *report, end, found);
  }
  return found;
}

std::string text_of(const ExceededSlices& found) {
  return "rank " + std::to_string(found.rank) + " used " + std::to_string(found.excess.used_mib) +
         " MiB of " + found.excess.device.substr(0, kMaxDevice) + " on node " + found.node +
         "; its slices have " + std::to_string(found.excess.limit_mib) + " MiB";
}

}  // namespace

std::optional<Step> end_excess(const Observation& seen) {
  const auto found = find_excess(seen, true);
  if (!found) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return fail_attempt(seen, seen.job.status, {reason::kSliceExceeded, text_of(*found)});
}

std::string excess_text(const Observation& seen) {
  const auto& status = seen.job.status;
  if (status.phase == api::phase::kRunning && status.reason == reason::kSliceExceeded) return status.message;
  const auto found = find_excess(seen, false);
  return found ? text_of(*found) + "; the owner of the node lets it run" : std::string();
}

}  // namespace gpupool::planning
