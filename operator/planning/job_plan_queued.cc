#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job_plan_steps.h"
#include "planning/job_status.h"
#include "planning/line_entry.h"
#include "planning/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace phase = api::phase;

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

Step stall(const Observation& seen, const Problem& problem, std::optional<base::Duration> again) {
  auto status = seen.job.status;
  status.phase = phase::kQueued;
  const bool news = status.reason != problem.reason || status.message != problem.message;
  return settle(seen, std::move(status), problem, again,
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

// The last lease ended in a stall, which outlives it until its cause is gone. It is tried again without any
// node (step::Rehearse). Nothing: the job may go on.
std::optional<Step> stay_out_of_line(const Observation& seen) {
  const auto stalled = standing_stall(seen.job);
  if (!stalled) return std::nullopt;
  if (!is_retried(*stalled)) return stall(seen, *stalled, std::nullopt);
  if (seen.rehearsal.problem) return stall(seen, *seen.rehearsal.problem, retry_pause(seen.job, seen.now));
  if (seen.rehearsal.done) return std::nullopt;
  if (const auto left = until_retry(seen.job, seen.now); left > base::Duration::zero())
    return step::Idle{left};
  return step::Rehearse{};
}

}  // namespace

bool asks_for_nodes(const Observation& seen) {
  const auto& job = seen.job;
  if (!wants_nodes(job) || seen.pool == nullptr || validate_job(job, seen.pool)) return false;
  if (standing_stall(job) && (!seen.rehearsal.done || seen.rehearsal.problem)) return false;
  return until_placed_again(job, seen.now) == base::Duration::zero();
}

Step plan_queued(const Observation& seen) {
  const auto& job = seen.job;
  if (finished(job.status)) return plan_finished(seen);
  if (auto problem = validate_job(job, seen.pool)) return stall(seen, *problem, std::nullopt);
  if (job.spec.suspend) return plan_suspended(seen);
  if (auto late = enforce_deadline(seen)) return *std::move(late);
  if (auto out = stay_out_of_line(seen)) return *std::move(out);
  if (auto drop = drop_before_queue(seen)) return *std::move(drop);
  const auto until_deadline = time_left(seen, job.status.start_time, job.spec.active_deadline_seconds);
  if (seen.pool == nullptr) {
    return wait(seen, reason::kPoolNotFound, "there is no GpuPool " + job.spec.pool, until_deadline);
  }
  if (const auto left = until_placed_again(job, seen.now); left > base::Duration::zero()) {
    return step::Idle{until_deadline ? std::min(left, *until_deadline) : left};
  }
  if (!seen.verdict) return step::Idle{};
  if (seen.verdict->nodes.empty())
    return wait(seen, seen.verdict->reason, seen.verdict->message, until_deadline);
  return take(seen, *seen.verdict);
}

}  // namespace gpupool::planning
