#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job_plan_steps.h"
#include "planning/job_status.h"
#include "planning/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace phase = api::phase;
using std::chrono::seconds;

// A stall whose cause lies outside the job's spec is looked at again this often.
constexpr auto kStallRetry = seconds(5);

bool finished(const api::GpuJobStatus& status) {
  return status.phase == phase::kSucceeded || status.phase == phase::kFailed;
}

// The status is only written when it says something new.
Step settle(const Observation& seen, api::GpuJobStatus status, const std::optional<Problem>& stalled,
            std::optional<base::Duration> again, std::optional<Note> note = std::nullopt) {
  settle_status(status, seen.job.metadata.generation, stalled, seen.now);
  if (status == seen.job.status) return step::Idle{again};
  return step::WriteStatus{std::move(status), std::move(note)};
}

Step plan_finished(const Observation& seen) {
  const auto& job = seen.job;
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  const auto left = time_left(seen, job.status.completion_time, job.spec.ttl_seconds_after_finished);
  if (left && *left == base::Duration::zero() && !job.status.lease) return step::DeleteJob{};
  return step::Idle{left};
}

Step stall(const Observation& seen, const Problem& problem) {
  auto status = seen.job.status;
  status.phase = phase::kQueued;
  const bool news = status.reason != problem.reason || status.message != problem.message;
  return settle(seen, std::move(status), problem, kStallRetry,
                news ? std::optional<Note>({true, problem.reason, problem.message}) : std::nullopt);
}

Step wait(const Observation& seen, const std::string& why, const std::string& message,
          std::optional<base::Duration> again) {
  auto status = seen.job.status;
  status.phase = phase::kQueued;
  const bool news = status.reason != why;
  status.reason = why;
  status.message = message;
  return settle(seen, std::move(status), std::nullopt, again,
                news ? std::optional<Note>({false, why, message}) : std::nullopt);
}

Step take(const Observation& seen, const Verdict& verdict) {
  const auto& job = seen.job;
  if (!job.metadata.has_finalizer(api::kLease)) return step::AddFinalizer{};
  auto status = job.status;
  ++status.lease_sequence;
  api::Lease lease;
  lease.id = api::LeaseValue{job.metadata.uid, status.lease_sequence}.to_string();
  lease.attempt = status.attempts;
  lease.spec_hash = api::spec_hash(job.spec);
  lease.slices = verdict.slices;
  lease.nodes = verdict.nodes;
  if (status.lease) lease.lost = status.lease->lost;
  status.lease = std::move(lease);
  const auto nodes = summarize_nodes(verdict.nodes);
  status.node_names = nodes;
  status.master = master_address(job, status.lease->id);
  status.workers = {};
  if (verdict.slices == 0) {
    return advance(seen, std::move(status), api::lease_state::kTaking, phase::kStarting,
                   {reason::kTakingNodes, "taking " + nodes}, std::nullopt);
  }
  // There is nothing to take on nodes that are shared: this write is the reservation.
  if (!status.start_time) status.start_time = seen.now;
  return advance(seen, std::move(status), api::lease_state::kHeld, phase::kStarting,
                 {reason::kStartingWorkers, "starting workers on " + nodes}, std::nullopt);
}

// A kubelet would not have a worker: it knew of something that its reports have yet to show. The more often,
// the longer.
std::optional<base::Duration> back_off(const Observation& seen) {
  constexpr std::int64_t kLongest = 5;  // doublings of a second
  const auto& status = seen.job.status;
  if (status.reason != reason::kPlacementRefused) return std::nullopt;
  const auto* leased = api::find_condition(status.conditions, "Leased");
  if (leased == nullptr) return std::nullopt;
  const auto uncharged = std::clamp<std::int64_t>(status.attempts - status.failures, 1, kLongest);
  return time_left(seen, leased->last_transition_time, std::int64_t{1} << uncharged);
}

Step plan_suspended(const Observation& seen) {
  auto status = seen.job.status;
  const bool news = status.phase != phase::kSuspended;
  status.phase = phase::kSuspended;
  status.reason = reason::kSuspended;
  status.message = "spec.suspend is true";
  status.start_time.reset();  // as batch/v1: the deadline counts anew after a suspension
  return settle(seen, std::move(status), std::nullopt, std::nullopt,
                news ? std::optional<Note>({false, reason::kSuspended, "suspended"}) : std::nullopt);
}

// A stall that the last lease ended in; it outlives the lease until its cause is gone.
std::optional<Step> standing_stall(const Observation& seen) {
  const auto* stalled = api::find_condition(seen.job.status.conditions, "Stalled");
  if (stalled == nullptr || stalled->status != "True") return std::nullopt;
  const Problem problem{stalled->reason.string(), stalled->message.string()};
  const bool same_spec = stalled->observed_generation == seen.job.metadata.generation;
  // What gpupool itself had against the template would have been found again: the pool has changed.
  const bool by_server = !problem.message.starts_with("spec.template");
  if (problem.reason == reason::kInvalidTemplate && same_spec && by_server) return stall(seen, problem);
  if (problem.reason == reason::kNameConflict && !seen.name_conflict_gone) {
    if (seen.blocked) return step::Idle{kStallRetry};
    return step::CheckNameConflict{};
  }
  if (problem.reason == reason::kForbidden && stalled->last_transition_time &&
      seen.now < *stalled->last_transition_time + kStallRetry) {
    return step::Idle{kStallRetry};
  }
  return std::nullopt;
}

}  // namespace

Step plan_queued(const Observation& seen) {
  const auto& job = seen.job;
  if (finished(job.status)) return plan_finished(seen);
  if (auto problem = validate_job(job, seen.pool)) return stall(seen, *problem);
  if (job.spec.suspend) return plan_suspended(seen);
  if (auto late = enforce_deadline(seen)) return *std::move(late);
  if (auto stalled = standing_stall(seen)) return *std::move(stalled);
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  const auto until_deadline = time_left(seen, job.status.start_time, job.spec.active_deadline_seconds);
  if (seen.pool == nullptr) {
    return wait(seen, reason::kPoolNotFound, "there is no GpuPool " + job.spec.pool, until_deadline);
  }
  if (const auto left = back_off(seen); left && *left > base::Duration::zero()) {
    return step::Idle{until_deadline ? std::min(*left, *until_deadline) : *left};
  }
  if (!seen.verdict) return step::Idle{};
  if (seen.verdict->nodes.empty())
    return wait(seen, seen.verdict->reason, seen.verdict->message, until_deadline);
  return take(seen, *seen.verdict);
}

}  // namespace gpupool::planning
