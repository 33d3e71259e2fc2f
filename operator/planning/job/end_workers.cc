// SPDX-License-Identifier: Apache-2.0
#include "planning/job/end_workers.h"

#include <algorithm>
#include <iterator>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "base/rfc3339.h"
#include "planning/job/kept_workers.h"
#include "planning/job/node_loss.h"
#include "planning/job/settle_attempt.h"
#include "planning/workers/child.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::planning {
namespace {

bool node_is_gone(const Observation& seen, const api::Pod& pod) {
  return !pod.spec.node_name.empty() && seen.node(pod.spec.node_name) == nullptr;
}

bool on_lost_node(const Observation& seen, const api::Pod& pod) {
  const auto& lease = seen.job.status.lease;
  return lease && std::any_of(lease->lost.begin(), lease->lost.end(),
                              [&](const api::LostNode& lost) { return lost.name == pod.spec.node_name; });
}

// True if the node is ready: its kubelet ends old workers within their grace period, so they are waited for.
bool answers(const Observation& seen, const std::string& name) {
  const auto node = seen.node(name);
  return node != nullptr && node->ready();
}

constexpr auto kSettleTime = std::chrono::seconds(3);

// For a short time after the state changed, a kubelet may still be restarting a container. Its pod, and the
// owner of the pod, are not deleted until then.
bool should_settle(const Observation& seen, const std::string& keep) {
  const auto& lease = seen.job.status.lease;
  if (!lease || !lease->since || seen.now >= *lease->since + kSettleTime) return false;
  return std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
    return pod->metadata.label(api::kLease) != keep && is_between_runs(*pod);
  });
}

// A worker that is about to stay (kept_workers.h) must not be deleted before its phase shows its end.
constexpr auto kPhaseFollows = std::chrono::seconds(10);

std::optional<base::Duration> until_phase(const Observation& seen, const std::string& keep) {
  const auto& lease = seen.job.status.lease;
  if (!lease || !lease->since || seen.job.metadata.deleting()) return std::nullopt;
  const auto left = *lease->since + kPhaseFollows - seen.now;
  const bool awaited = std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
    return pod->metadata.label(api::kLease) != keep && is_of_job(*pod) && awaits_phase(*pod);
  });
  if (!awaited || left <= base::Duration::zero()) return std::nullopt;
  return left;
}

// A kubelet of 1.20 that must end a pod while it restarts a container forgets the new container until it
// checks all its pods, a minute later. A change of the pod reminds it.
constexpr auto kForgotten = std::chrono::seconds(3);
// A running kubelet confirms a deletion in less time than this.
constexpr auto kForced = std::chrono::seconds(10);

bool is_forgotten(const Observation& seen, const api::Pod& pod) {
  if (!pod.metadata.deletion_timestamp || has_ended(pod)) return false;
  const auto overdue = seen.now - *pod.metadata.deletion_timestamp;
  if (overdue < kForgotten || overdue > kUnconfirmedLimit) return false;
  const auto nudged = base::parse_rfc3339(pod.metadata.annotation(api::kNudged));
  if (nudged && seen.now >= *nudged && seen.now < *nudged + kForgotten) return false;
  const auto node = seen.node(pod.spec.node_name);
  return node != nullptr && node->ready();
}

// True if the owner of the pod may exist but is not in the cache. If the pod were deleted first, its owner
// would replace it.
bool maker_is_unseen(const Observation& seen, const api::Pod& pod) {
  if (seen.live || !seen.job.status.lease || seen.maker_deleted(pod)) return false;
  return std::none_of(seen.children.begin(), seen.children.end(),
                      [&](const Child& child) { return child.uid == pod.metadata.controller_uid(); });
}

// A controller that has not yet seen that its StatefulSet or Job is deleted replaces a pod as soon as the old
// one is gone. So the finalizer keeps a pod until its owner is gone from the cache or has ended, and no node
// carries its lease. A pod that is created later finds no node.
bool may_go(const Observation& seen, const api::Pod& pod) {
  const auto id = pod.metadata.label(api::kLease);
  const bool made = std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& child) {
    return child.lease_id == id && !child.deleting && !child.ended;
  });
  return !made && is_unmarked(seen, pod);
}

}  // namespace

bool is_unmarked(const Observation& seen, const api::Pod& pod) {
  const auto id = pod.metadata.label(api::kLease);
  const auto& lease = seen.job.status.lease;
  return !lease || std::none_of(lease->nodes.begin(), lease->nodes.end(), [&](const auto& ref) {
    const auto node = seen.node(ref.name);
    return node != nullptr && node->metadata.label(api::kNodeLeaseLabel) == id;
  });
}

bool is_over(const Observation& seen, const api::Pod& pod) {
  if (has_ended(pod) || node_is_gone(seen, pod)) return true;
  const auto node = pod.spec.node_name.empty() ? nullptr : seen.node(pod.spec.node_name);
  if (node == nullptr || !pod.metadata.deleting() || !never_began(pod, *node)) return false;
  const auto waited = seen.unconfirmed_for(
      pod, node->ready());  // counted from the deletion, not from the end of the grace period
  return is_unconfirmed(pod) && waited >= kNeverBegan;
}

Pods ended_pods(const Observation& seen, const std::string& keep) {
  Pods ended;
  std::copy_if(seen.pods.begin(), seen.pods.end(), std::back_inserter(ended), [&](const auto& pod) {
    return pod->metadata.label(api::kLease) != keep && is_over(seen, *pod) && !stays(seen, *pod) &&
           pod->metadata.has_finalizer(api::kWorkerFinalizer);
  });
  return ended;
}

std::optional<Step> drop_stale_workers(const Observation& seen, const std::string& keep) {
  if (should_settle(seen, keep)) return step::Idle{std::chrono::milliseconds(500)};
  if (const auto left = until_phase(seen, keep)) return step::Idle{left};
  step::DropWorkers drop;
  for (const auto& child : seen.children) {
    if (child.lease_id != keep && !child.deleting && !stays(seen, child)) drop.children.push_back(child);
  }
  for (auto& child : oldest_kept(seen, keep)) drop.children.push_back(std::move(child));
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) == keep || stays(seen, *pod)) continue;
    if (!pod->metadata.deleting() && maker_is_unseen(seen, *pod)) return step::LookLive{};
    if (!pod->metadata.deleting()) drop.pods_to_delete.push_back({pod, has_result(*pod)});
    if (is_forgotten(seen, *pod)) drop.pods_to_nudge.push_back(pod);
  }
  drop.to_release = ended_pods(seen, keep);
  std::erase_if(drop.to_release,
                [&](const auto& pod) { return !may_go(seen, *pod) || awaits_settlement(seen, *pod); });
  if (drop.children.empty() && drop.pods_to_delete.empty() && drop.to_release.empty() &&
      drop.pods_to_nudge.empty())
    return std::nullopt;
  return drop;
}

std::optional<Step> drop_before_queue(const Observation& seen) {
  auto drop = seen.dropped ? std::nullopt : drop_stale_workers(seen, "");
  if (!drop) return std::nullopt;
  if (auto* workers = std::get_if<step::DropWorkers>(&*drop)) workers->waits = false;
  return drop;
}

bool stale_workers_run(const Observation& seen, const std::string& keep) {
  // A child that is being deleted creates no pods; with foreground propagation it waits for its pods.
  const bool child = std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& candidate) {
    return candidate.lease_id != keep && !candidate.deleting && !stays(seen, candidate);
  });
  return child || std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
           if (pod->metadata.label(api::kLease) == keep || is_over(seen, *pod)) return false;
           const bool starts = !keep.empty();  // two attempts should not run at the same time
           return !on_lost_node(seen, *pod) || (starts && answers(seen, pod->spec.node_name));
         });
}

Step await_kubelets(const Observation& seen) {
  base::Duration after = std::chrono::seconds(5);
  if (const auto loss = until_next_loss(seen)) after = std::min(after, *loss);
  const auto forced = std::find_if(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
    return is_unconfirmed(*pod) && pod->metadata.deletion_timestamp &&
           seen.now > *pod->metadata.deletion_timestamp + kForced;
  });
  if (forced == seen.pods.end()) return step::Idle{after};
  // Reason and message are kept, because they may be the outcome.
  auto status = seen.job.status;
  api::Condition condition;
  condition.type = "Reconciling";
  condition.status = "True";
  condition.observed_generation = seen.job.metadata.generation;
  condition.reason = api::reason::kDeletedByForce;
  condition.message =
      "pod " + (*forced)->metadata.name + " was deleted without grace, and the kubelet of node " +
      (*forced)->spec.node_name +
      " has not confirmed that its processes have ended; the node stays marked until it does, or "
      "until its Node object is deleted";
  const auto text = condition.message.string();
  api::set_condition(status.conditions, std::move(condition), seen.now);
  if (status == seen.job.status) return step::Idle{after};
  return step::WriteStatus{std::move(status), Note{true, api::reason::kDeletedByForce, text}};
}

}  // namespace gpupool::planning
