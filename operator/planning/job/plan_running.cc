// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_running.h"

#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/attempt_end.h"
#include "planning/job/check_source.h"
#include "planning/job/end_workers.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_claim.h"
#include "planning/job/plan_drain.h"
#include "planning/job/plan_move.h"
#include "planning/job/plan_restart.h"
#include "planning/job/save_results.h"
#include "planning/job/show_progress.h"
#include "planning/job/slice_excess.h"
#include "planning/job/suspension.h"
#include "planning/job/worker_views.h"
#include "planning/job/worker_waits.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/child.h"
#include "planning/workers/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace phase = api::phase;

std::optional<Step> give_up_on_result(const Observation& seen, const WorkerViews& views) {
  const auto* unproven = first(views, WorkerState::kUnproven);
  if (unproven == nullptr || until_given_up(seen) > base::Duration::zero()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return restart(
      seen, seen.job.status,
      {reason::kWorkerLost, of_rank(*unproven) + " within 10 minutes; the attempt is not charged"});
}

// A worker runs on a node that the job does not hold: something has removed the node selection from its pod.
std::optional<Step> leave_other_nodes(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  for (const auto& pod : seen.pods) {
    const auto& name = pod->spec.node_name;
    if (name.empty() || pod->metadata.label(api::kLease) != lease.id) continue;
    if (std::any_of(lease.nodes.begin(), lease.nodes.end(),
                    [&](const auto& ref) { return ref.name == name; }))
      continue;
    return release(seen, api::outcome::kQueued,
                   {reason::kWorkerChanged,
                    "pod " + pod->metadata.name + " came to node " + name +
                        ", which the job does not hold: something in this cluster changes worker pods"},
                   true);
  }
  return std::nullopt;
}

std::optional<Step> ask_about_pods(const Observation& seen, const WorkerViews& views) {
  const auto& lease = *seen.job.status.lease;
  if (seen.job.status.phase == phase::kRunning || first(views, WorkerState::kAbsent) == nullptr)
    return std::nullopt;
  if (seen.pod_rehearsal.problem)
    return release(seen, api::outcome::kQueued, *seen.pod_rehearsal.problem, true);
  if (seen.pod_rehearsal.done) return std::nullopt;
  if (!lease.since || seen.now < *lease.since + kPodsExpected) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return step::RehearsePod{};
}

// A kubelet says only in Events why it cannot mount a volume.
std::optional<Step> ask_about_mounts(const Observation& seen, const WorkerViews& views) {
  const auto& lease = *seen.job.status.lease;
  if (seen.job.status.phase == phase::kRunning || !lease.since || !asks_about_mounts(seen.now - *lease.since))
    return std::nullopt;
  const auto silent = silent_start(seen, views);
  if (silent == nullptr) return std::nullopt;
  if (!seen.mounts.asked) return step::AskMounts{silent};
  if (!seen.mounts.missing) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return release(seen, api::outcome::kQueued,
                 {reason::kPlacementRefused, "rank " + std::to_string(rank_of(*silent)) + ": " +
                                                 seen.mounts.message + "; the attempt is not charged"},
                 true);
}

// Places the job again if a kubelet did not admit a worker, or a worker is stuck.
std::optional<Step> place_again(const Observation& seen, const WorkerViews& views) {
  const auto found = std::find_if(views.begin(), views.end(), [](const WorkerView& view) {
    return view.refused && view.state == WorkerState::kLost;
  });
  const auto* worker = found == views.end() ? nullptr : &*found;
  const auto left = until_moved(seen, views);
  if (worker == nullptr && left == base::Duration::zero()) worker = stuck_worker(views);
  if (worker == nullptr) return std::nullopt;
  return release(seen, api::outcome::kQueued,
                 {reason::kPlacementRefused, of_rank(*worker) + "; the attempt is not charged"}, true);
}

std::optional<Step> missing_workers(const Observation& seen, const WorkerViews& views) {
  const auto& lease = *seen.job.status.lease;
  const bool child = std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& candidate) {
    return candidate.lease_id == lease.id && !candidate.deleting && candidate.type != &api::Service::kType;
  });
  // After all workers have started, a rank without a pod has lost it.
  const auto& workers = seen.job.status.workers;
  const bool all_started = workers.total > 0 && workers.running + workers.succeeded >= workers.total;
  const auto* absent = all_started ? first(views, WorkerState::kAbsent) : nullptr;
  if (child && absent == nullptr) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return restart(seen, seen.job.status,
                 {reason::kWorkerLost,
                  child ? "the pod of rank " + std::to_string(absent->rank) + " is gone"
                        : "the workers' " + std::string(count_of_workers(seen) > 1 ? "StatefulSet" : "Job") +
                              " is gone"});
}

// Leaves a node that was cordoned before its worker was scheduled.
std::optional<Step> leave_closed_nodes(const Observation& seen, const WorkerViews& views) {
  const bool homeless = std::any_of(views.begin(), views.end(), [](const WorkerView& view) {
    return view.state == WorkerState::kPending && !view.placed;
  });
  if (!homeless || cordoned_nodes(seen).empty()) return std::nullopt;
  if (auto left = leave_nodes(seen)) return left;
  return await_nodes(seen, nodes_to_await(seen));
}

// spec.nodeReplacement: Never. Running workers are left alone, because those on lost nodes may still run.
// When one of them ends, in any way, the loss is the reason.
std::optional<Step> bear_silent_nodes(const Observation& seen, const WorkerViews& views) {
  const auto silent = silent_nodes(seen);
  if (silent.empty()) return std::nullopt;
  const auto* lost = first(views, WorkerState::kLost);
  const auto* ended = lost != nullptr ? lost : first_crash(views);
  if (ended == nullptr) return await_nodes(seen, silent);
  if (!seen.live) return step::LookLive{};
  return restart(seen, seen.job.status,
                 {reason::kNodeLost, "lost " + join_names(silent) + ", and " + of_rank(*ended) +
                                         "; the attempt is not charged"});
}

// Kubelets report within about a second of each other, in any order. A crash that looks like a consequence
// waits so long for the results of the other workers: one may be its cause, or a loss, which is not charged.
// Not if the clocks of node and server differ by more.
constexpr base::Duration kCauseIsReported = std::chrono::seconds(3);

std::optional<Step> await_cause(const Observation& seen, const WorkerViews& views, const WorkerView& crash) {
  if (!crash.follows || !crash.finished_at || count(views, WorkerState::kRunning) == 0) return std::nullopt;
  const auto age = seen.now - *crash.finished_at;
  if (age < -kCauseIsReported || age >= kCauseIsReported) return std::nullopt;
  return step::Idle{std::chrono::duration_cast<base::Duration>(kCauseIsReported - age)};
}

// Without the Service the ranks cannot resolve the name of rank 0.
bool service_is_missing(const Observation& seen) {
  const auto& id = seen.job.status.lease->id;
  return count_of_workers(seen) > 1 &&
         std::none_of(seen.children.begin(), seen.children.end(), [&](const Child& child) {
           return child.type == &api::Service::kType && child.lease_id == id;
         });
}

// True if only the passing of time leads to the next decision. Such a decision must not rely on the cache,
// because the watches may have stopped.
bool clock_decides(const Observation& seen, const WorkerViews& views) {
  const auto& status = seen.job.status;
  const auto is_over = [&](const std::optional<base::WallTime>& begin, std::optional<std::int64_t> limit) {
    return time_left(seen, begin, limit) == base::Duration::zero();
  };
  const bool starting = status.phase != phase::kRunning;
  return is_over(status.start_time, seen.job.spec.active_deadline_seconds) ||
         (starting && is_over(status.lease->since, start_limit(seen))) ||
         until_moved(seen, views) == base::Duration::zero();
}

}  // namespace

Step plan_running(const Observation& seen) {
  const auto& job = seen.job;
  const auto views = views_of_workers(seen);
  const auto total = static_cast<std::int64_t>(views.size());
  if (count(views, WorkerState::kSucceeded) == total) {
    return release(seen, api::outcome::kSucceeded, all_succeeded(views), false);
  }
  if (auto why = suspension(seen)) return release(seen, api::outcome::kSuspended, *std::move(why), false);
  if (auto leaves = make_room(seen)) return *std::move(leaves);
  if (!seen.live && clock_decides(seen, views)) return step::LookLive{};
  if (auto late = enforce_deadline(seen)) return *std::move(late);
  if (!given_up_nodes(seen).empty()) return *leave_nodes(seen);
  if (auto waits = bear_silent_nodes(seen, views)) return *std::move(waits);
  if (auto again = place_again(seen, views)) return *std::move(again);
  if (job.spec.source && job.status.phase != phase::kRunning) {
    if (auto failed = check_source(seen)) return *std::move(failed);
  }
  if (const auto* lost = first_loss(views)) return lose_attempt(seen, *lost);
  if (const auto* crash = first_crash(views)) {
    if (auto waits = await_cause(seen, views, *crash)) return *std::move(waits);
    return fail_attempt(seen, job.status, *crash);
  }
  if (auto exceeded = end_excess(seen)) return *std::move(exceeded);
  if (auto leaves = leave_drained_nodes(seen)) return *std::move(leaves);
  if (auto again = restart_as_asked(seen)) return *std::move(again);
  if (auto outside = leave_other_nodes(seen)) return *std::move(outside);
  if (auto given_up = give_up_on_result(seen, views)) return *std::move(given_up);
  if (auto missing = missing_workers(seen, views)) return *std::move(missing);
  if (auto left = leave_closed_nodes(seen, views)) return *std::move(left);
  if (auto asked = ask_about_pods(seen, views)) return *std::move(asked);
  if (auto asked = ask_about_mounts(seen, views)) return *std::move(asked);
  if (!seen.nodes_taken && !seen.blocked && !nodes_carry(seen)) return step::TakeNodes{};
  if (!seen.blocked && service_is_missing(seen)) {
    if (!seen.live) return step::LookLive{};
    return step::RestoreService{};
  }
  return show_progress(seen, views);
}

}  // namespace gpupool::planning
