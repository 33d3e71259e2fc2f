// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_release.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/active_time.h"
#include "planning/job/end_workers.h"
#include "planning/job/job_status.h"
#include "planning/job/kept_workers.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_restart.h"
#include "planning/job/settle_attempt.h"
#include "planning/workers/pod_end.h"

namespace gpupool::planning {
namespace {

namespace outcome = api::outcome;
namespace phase = api::phase;

// Returns the status after the nodes have been given back.
api::GpuJobStatus after_release(const Observation& seen, api::GpuJobStatus status) {
  const auto ended = status.lease->outcome;
  if (ended == outcome::kSucceeded) {
    status.phase = phase::kSucceeded;
  } else if (ended == outcome::kFailed) {
    status.phase = phase::kFailed;
  } else if (ended == outcome::kSuspended) {
    status.phase = phase::kSuspended;
    reset_clock(status);
  } else {
    status.phase = phase::kQueued;
    stop_clock(status, seen.now);
  }
  const auto views = status.workers;
  status.workers = {views.total, 0, ended == outcome::kSucceeded ? views.total : 0};
  if (status.lease->lost.empty()) {
    status.lease.reset();
  } else {
    status.lease->nodes.clear();  // the lost nodes keep the lease
  }
  std::optional<api::Problem> stalled;
  if (ended == outcome::kQueued && api::is_true(seen.job.status.conditions, "Stalled")) {
    stalled = api::Problem{status.reason, status.message};
  }
  settle_status(status, seen.job.metadata.generation, stalled, seen.now);
  return status;
}

// Nodes of the lease on which a worker does not end.
struct Stuck {
  std::set<std::string> silent;       // not ready
  std::set<std::string> unconfirmed;  // ready; the kubelet has not confirmed a deletion for too long
};

Stuck stuck_nodes(const Observation& seen, const std::string& keep) {
  Stuck stuck;
  const auto lost = lost_nodes(seen);
  const auto& held = seen.job.status.lease->nodes;
  for (const auto& pod : seen.pods) {
    const auto& name = pod->spec.node_name;
    if (pod->metadata.label(api::kLease) == keep || is_over(seen, *pod)) continue;
    if (std::none_of(held.begin(), held.end(), [&](const auto& ref) { return ref.name == name; })) continue;
    const auto node = seen.node(name);
    if (lost.contains(name) && node != nullptr && !node->ready()) {
      stuck.silent.insert(name);
    } else if (pod->metadata.deletion_timestamp &&
               seen.now > *pod->metadata.deletion_timestamp + kUnconfirmedLimit) {
      stuck.unconfirmed.insert(name);
    }
  }
  return stuck;
}

std::string text_of(const Stuck& stuck) {
  std::string text;
  if (!stuck.silent.empty()) text = "lost " + join_names(stuck.silent) + " while a worker ended there";
  if (stuck.unconfirmed.empty()) return text;
  return text + (text.empty() ? "" : "; ") + "left " + join_names(stuck.unconfirmed) +
         ": its kubelet has not confirmed that a deleted worker is over; it stays marked until it does, or "
         "until its Node object is deleted";
}

// Moves stuck nodes to the lost ones, so that they do not delay the release of the others.
std::optional<Step> leave_stuck(const Observation& seen) {
  const auto stuck = stuck_nodes(seen, "");
  auto names = stuck.silent;
  names.insert(stuck.unconfirmed.begin(), stuck.unconfirmed.end());
  if (names.empty()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  auto status = seen.job.status;
  keep_as_lost(seen, names, *status.lease);
  std::erase_if(status.lease->nodes, [&](const auto& node) { return names.contains(node.name); });
  if (status.lease->nodes.empty()) status = after_release(seen, std::move(status));
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), Note{true, api::reason::kNodeLost, text_of(stuck)}};
}

// True if the job is being deleted, only our finalizer holds it, and no lost node needs it.
bool goes_with_its_nodes(const api::GpuJob& job) {
  return job.metadata.deleting() && job.status.lease->lost.empty() &&
         job.metadata.finalizers == std::vector<std::string>{api::kLease};
}

// Removes our marks from the nodes, our finalizer from the pods, then writes the status.
step::FreeNodes give_back(const Observation& seen, std::optional<Note> note) {
  const auto& lease = *seen.job.status.lease;
  return {lease.shared() ? std::vector<api::NodeRef>() : lease.nodes,
          ended_pods(seen, ""),
          {after_release(seen, seen.job.status), std::move(note)},
          goes_with_its_nodes(seen.job)};
}

// For a lease whose only worker has succeeded: Job and pod stay, so the node is free at once. Nothing in
// other cases.
std::optional<Step> end_after_success(const Observation& seen) {
  if (!sole_success(seen.pods, *seen.job.status.lease)) return std::nullopt;
  const bool all_stay = std::all_of(seen.children.begin(), seen.children.end(),
                                    [&](const Child& child) { return stays(seen, child); });
  if (!all_stay) return std::nullopt;
  if (auto settled = settle_attempt(seen)) return settled;
  return give_back(seen, std::nullopt);  // the success already had its event
}

}  // namespace

std::optional<Step> leave_stuck_nodes(const Observation& seen) {
  const auto stuck = stuck_nodes(seen, seen.job.status.lease->id);
  if (stuck.unconfirmed.empty()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return restart_without(seen, seen.job.status, stuck.unconfirmed, {api::reason::kNodeLost, text_of(stuck)});
}

Step plan_releasing(const Observation& seen) {
  if (auto left = leave_stuck(seen)) return *std::move(left);
  if (auto end = end_after_success(seen)) return *std::move(end);
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  if (stale_workers_run(seen, "")) return await_kubelets(seen);
  if (!seen.live && !seen.end_shown) return step::LookLive{};
  if (auto settled = settle_attempt(seen)) return *std::move(settled);
  if (goes_with_its_nodes(seen.job))
    return give_back(seen, std::nullopt);  // no event: the deletion of the job shows it
  const auto& lease = *seen.job.status.lease;
  if (lease.outcome == outcome::kSucceeded) return give_back(seen, std::nullopt);
  return give_back(seen,
                   Note{false, lease.shared() ? api::event::kSlicesReleased : api::event::kNodesReleased,
                        "gave back " + summarize_nodes(lease.nodes)});
}

std::optional<Step> plan_lost_nodes(const Observation& seen) {
  const auto& lease = seen.job.status.lease;
  if (!lease || lease->lost.empty()) return std::nullopt;
  const bool releasing = lease->state == api::lease_state::kReleasing;
  const bool queued = !holds_nodes(seen.job.status);
  if (auto drop = queued ? drop_before_queue(seen) : drop_stale_workers(seen, releasing ? "" : lease->id))
    return drop;
  for (const auto& lost : lease->lost) {
    const auto node = seen.node(lost.name);
    const bool gone = node == nullptr || node->metadata.uid != lost.uid;
    const bool runs = std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
      return pod->metadata.label(api::kLease) == lost.id && pod->spec.node_name == lost.name &&
             !is_over(seen, *pod);
    });
    if (!gone && (runs || !node->ready())) continue;
    if (!seen.live) return step::LookLive{};
    auto status = seen.job.status;
    std::erase(status.lease->lost, lost);
    if (releasing && status.lease->nodes.empty() && status.lease->lost.empty()) status.lease.reset();
    std::vector<api::NodeRef> nodes;
    if (!gone && !lease->shared()) nodes.push_back({lost.name, lost.uid});
    return step::FreeNodes{std::move(nodes),
                           {},
                           {std::move(status), Note{false, api::event::kLostNodeResolved,
                                                    "nothing runs any more on " + lost.name}}};
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
