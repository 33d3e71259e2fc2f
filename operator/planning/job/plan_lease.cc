// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_lease.h"

#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/active_time.h"
#include "planning/job/attempt_history.h"
#include "planning/job/end_workers.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_claim.h"
#include "planning/job/plan_drain.h"
#include "planning/job/plan_move.h"
#include "planning/job/plan_release.h"
#include "planning/job/plan_restart.h"
#include "planning/job/save_results.h"
#include "planning/job/settle_attempt.h"
#include "planning/job/show_progress.h"
#include "planning/job/suspension.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/child.h"
#include "planning/workers/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

// The owner of a worker tells it too: the cache does not have a Job that has succeeded.
std::string uid_of_workload(const Observation& seen) {
  const auto found = std::find_if(seen.children.begin(), seen.children.end(), [&](const Child& child) {
    return child.lease_id == seen.job.status.lease->id && child.type != &api::Service::kType &&
           !child.deleting;
  });
  if (found != seen.children.end()) return found->uid;
  const auto pod = std::find_if(seen.pods.begin(), seen.pods.end(), [&](const auto& candidate) {
    return candidate->metadata.label(api::kLease) == seen.job.status.lease->id;
  });
  return pod == seen.pods.end() ? std::string() : (*pod)->metadata.controller_uid();
}

api::GpuJobStatus begun(const Observation& seen) {
  auto status = seen.job.status;
  status.lease->workload = uid_of_workload(seen);
  const auto& lease = *status.lease;
  start_clock(status, seen.now);
  accept_restart(seen.job, status);
  status.attempts = lease.attempt + 1;
  status.workers = {api::worker_count(seen.job.spec), 0, 0};
  return status;
}

Step begin_attempt(const Observation& seen) {
  auto status = begun(seen);
  const auto& lease = *status.lease;
  const auto attempt = "attempt " + std::to_string(lease.attempt);
  auto told = attempt + " starts on " + summarize_nodes(lease.nodes);
  if (const auto* end = end_of(status, lease.attempt - 1))
    told = cause_text(*end) + "; " + told + resumes_text(*end);
  if (lease.shared())
    told += " with " + std::to_string(lease.slices) + (lease.of_gpus() ? " GPUs" : " slices") +
            " for each worker";
  return advance(
      seen, std::move(status), state::kRunning, phase::kStarting,
      {reason::kStartingWorkers, "workers of " + attempt + " are starting"},
      lease.attempt > 0 ? std::optional<Note>({false, reason::kStartingWorkers, told}) : std::nullopt);
}

// How long Running is not written, so that one write tells that the worker exists and that it runs.
constexpr base::Duration kTogether = std::chrono::seconds(3);

bool may_wait(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  return !suspension(seen) && api::spec_hash(seen.job.spec) == lease.spec_hash && lost_nodes(seen).empty() &&
         cordoned_nodes(seen).empty();
}

// For a lease whose only worker exists. Writes Running when the worker runs, and with it how it ended if it
// has succeeded already.
std::optional<Step> begin_alone(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  if (is_gang(seen.job.spec) || uid_of_workload(seen).empty() || !nodes_carry(seen)) return std::nullopt;
  const auto views = views_of_workers(seen);
  const auto& view = views.front();
  if (view.state == WorkerState::kSucceeded) {
    return release(seen, begun(seen), api::outcome::kSucceeded, all_succeeded(views), false);
  }
  const bool starts = view.state == WorkerState::kAbsent || view.state == WorkerState::kPending;
  if (starts && may_wait(seen) && lease.since && seen.now < *lease.since + kTogether)
    return step::Idle{std::chrono::duration_cast<base::Duration>(*lease.since + kTogether - seen.now)};
  auto begins = begin_attempt(seen);
  if (view.state == WorkerState::kRunning) {
    auto& status = std::get<step::WriteStatus>(begins).status;
    set_running(seen.job.spec, {1, 1, 0}, status);
    settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  }
  return begins;
}

}  // namespace

Step plan_taking(const Observation& seen) {
  if (auto begins = begin_alone(seen)) return *std::move(begins);
  if (auto end = interrupt_before_workers(seen)) return *std::move(end);
  if (!lost_nodes(seen).empty()) {
    return release(seen, api::outcome::kQueued, {reason::kNodeLost, "a chosen node is gone or not ready"},
                   true);
  }
  if (!seen.nodes_taken) return step::TakeNodes{};
  if (skips_held(*seen.job.status.lease) && !seen.children_late) {
    if (!seen.children_made) return step::CreateChildren{};
    return begin_attempt(seen);
  }
  auto status = seen.job.status;
  start_clock(status, seen.now);
  const auto nodes = summarize_nodes(status.lease->nodes);
  return advance(seen, std::move(status), state::kHeld, phase::kStarting,
                 {reason::kStartingWorkers, "starting workers on " + nodes}, std::nullopt);
}

// How long nodes are held for workers that cannot be created, because the server fails or an older object is
// in the way.
constexpr std::int64_t kHeldSeconds = 30;
constexpr base::Duration kTellLate = std::chrono::seconds(3);  // shorter delays are not shown

Step await_children(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  const auto left = time_left(seen, lease.since, kHeldSeconds).value_or(base::Duration::zero());
  const auto cause = seen.late_cause.empty() ? "the workers could not be created" : seen.late_cause;
  if (left == base::Duration::zero())
    return release(seen, api::outcome::kQueued, {reason::kCreateFailed, cause}, true);
  const auto text = "workers on " + summarize_nodes(lease.nodes) + " cannot be created yet: ";
  const bool tell = lease.since && seen.now >= *lease.since + kTellLate;
  if (tell && !seen.job.status.message.starts_with(
                  text)) {  // written once, because the cause may contain changing details
    auto status = seen.job.status;
    status.message = text + cause;
    settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
    return step::WriteStatus{std::move(status)};
  }
  return step::Idle{std::min<base::Duration>(left, std::chrono::milliseconds(500))};
}

Step plan_held(const Observation& seen) {
  if (auto begins = begin_alone(seen)) return *std::move(begins);
  if (auto end = interrupt_before_workers(seen)) return *std::move(end);
  if (auto leaves = make_room(seen)) return *std::move(leaves);
  if (auto left = leave_nodes(seen)) return *std::move(left);
  if (auto yields = yield_drained_nodes(seen)) return *std::move(yields);
  if (auto waits = await_nodes(seen, nodes_to_await(seen))) return *std::move(waits);
  if (!seen.nodes_taken && !nodes_carry(seen)) return step::TakeNodes{};
  if (seen.children_late) return await_children(seen);
  if (!seen.children_made) return step::CreateChildren{};
  return begin_attempt(seen);
}

Step plan_restarting(const Observation& seen) {
  if (auto end = interrupt_before_workers(seen)) return *std::move(end);
  if (auto leaves = make_room(seen)) return *std::move(leaves);
  if (auto left = leave_nodes(seen)) return *std::move(left);
  if (auto left = leave_stuck_nodes(seen)) return *std::move(left);
  if (auto yields = yield_drained_nodes(seen)) return *std::move(yields);
  const auto& lease = *seen.job.status.lease;
  if (auto drop = drop_stale_workers(seen, lease.id)) return *std::move(drop);
  if (auto waits = await_nodes(seen, nodes_to_await(seen))) return *std::move(waits);
  if (stale_workers_run(seen, lease.id)) return await_kubelets(seen);
  if (!seen.live) return step::LookLive{};
  if (auto settled = settle_attempt(seen)) return *std::move(settled);
  if (!seen.nodes_taken && !lease.shared()) {
    return step::TakeNodes{.to_release = ended_pods(seen, lease.id)};
  }
  if (lease.not_before && *lease.not_before > seen.now) {
    return step::Idle{std::chrono::duration_cast<base::Duration>(*lease.not_before - seen.now)};
  }
  auto status = seen.job.status;
  return advance(seen, std::move(status), state::kHeld, phase::kRestarting,
                 {reason::kStartingWorkers, "restarting: " + seen.job.status.message}, std::nullopt);
}

}  // namespace gpupool::planning
