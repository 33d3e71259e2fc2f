// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_queued.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/active_time.h"
#include "planning/job/end_workers.h"
#include "planning/job/job_status.h"
#include "planning/job/job_validation.h"
#include "planning/job/lease_changes.h"
#include "planning/job/line_entry.h"
#include "planning/job/plan_claim.h"
#include "planning/queue/verdict.h"
#include "planning/workers/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace phase = api::phase;

bool finished(const api::GpuJobStatus& status) {
  return status.phase == phase::kSucceeded || status.phase == phase::kFailed;
}

// Writes the status only if it differs from the current one.
Step settle(const Observation& seen, api::GpuJobStatus status, const std::optional<api::Problem>& stalled,
            std::optional<base::Duration> again, std::optional<Note> note = std::nullopt) {
  status.gpus = requested_gpus(seen.job.spec);
  settle_status(status, seen.job.metadata.generation, stalled, seen.now);
  if (status == seen.job.status) return step::Idle{again};
  return step::WriteStatus{std::move(status), std::move(note)};
}

constexpr char kTooLate[] =
    "the spec was changed after the job had ended. It does not run again: delete it and create it anew, or "
    "use another name. Of the change, only ttlSecondsAfterFinished has an effect.";

// Tells it once for each generation. The outcome stays.
std::optional<Step> plan_late_change(const Observation& seen) {
  const auto& job = seen.job;
  if (job.status.observed_generation == job.metadata.generation) return std::nullopt;
  auto status = job.status;
  if (!status.message.starts_with(kTooLate))
    status.message = kTooLate + (status.message.empty() ? "" : " How it ended: " + status.message);
  settle_status(status, job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), Note{true, reason::kSpecChanged, kTooLate}};
}

Step plan_finished(const Observation& seen) {
  const auto& job = seen.job;
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  const auto left = time_left(seen, job.status.completion_time, job.spec.ttl_seconds_after_finished);
  if (left && *left == base::Duration::zero() && !job.status.lease) return step::DeleteJob{};
  if (auto late = plan_late_change(seen)) return *std::move(late);
  return step::Idle{left};
}

Step stall(const Observation& seen, const api::Problem& problem, std::optional<base::Duration> again) {
  auto status = seen.job.status;
  status.phase = phase::kQueued;
  set_turn(status, {});
  const bool news = status.reason != problem.reason || status.message != problem.message;
  return settle(seen, std::move(status), problem, again,
                news ? std::optional<Note>({true, problem.reason, problem.message}) : std::nullopt);
}

constexpr std::size_t kMaxPools = 10;

// Not an error of the job alone: it starts by itself when somebody creates the pool.
Step await_pool(const Observation& seen, std::optional<base::Duration> again) {
  const auto& wanted = seen.job.spec.pool;
  const auto names = seen.pool_names();
  std::string text = "there is no GpuPool " + wanted;
  if (names.empty()) text += ", and no other";
  for (std::size_t i = 0; i < names.size() && i < kMaxPools; ++i)
    text += (i == 0 ? "; there are: " : ", ") + names[i];
  if (names.size() > kMaxPools) text += " and " + std::to_string(names.size() - kMaxPools) + " more";
  text += ". Correct spec.pool, or create " + wanted + ": then the job starts by itself";
  const auto& status = seen.job.status;
  const bool news =  // not whenever another pool comes or goes
      status.reason != reason::kPoolNotFound || status.observed_generation != seen.job.metadata.generation;
  auto next = status;
  next.phase = phase::kQueued;
  return settle(seen, std::move(next), api::Problem{reason::kPoolNotFound, text}, again,
                news ? std::optional<Note>({true, reason::kPoolNotFound, text}) : std::nullopt);
}

Step wait(const Observation& seen, const Verdict& verdict, std::optional<base::Duration> again) {
  auto status = seen.job.status;
  status.phase = phase::kQueued;
  const bool news = status.reason != verdict.reason;
  status.reason = verdict.reason;
  status.message = verdict.message;
  set_turn(status, verdict.turn);
  return settle(seen, std::move(status), std::nullopt, again,
                news ? std::optional<Note>({false, verdict.reason, verdict.message}) : std::nullopt);
}

// Not an error of the job: it starts by itself when its account has enough. One that was stopped for that
// stays Suspended.
Step await_funds(const Observation& seen, const api::Problem& problem, std::optional<base::Duration> again) {
  auto status = seen.job.status;
  if (status.phase != phase::kSuspended) status.phase = phase::kQueued;
  const bool news = status.reason != problem.reason;
  status.reason = problem.reason;
  status.message = problem.message;
  set_turn(status, {});
  return settle(seen, std::move(status), std::nullopt, again,
                news ? std::optional<Note>({true, problem.reason, problem.message}) : std::nullopt);
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
  lease.unit = verdict.unit;
  lease.nodes = verdict.nodes;
  if (status.lease) lease.lost = status.lease->lost;
  if (verdict.turn) lease.turn = api::LeaseTurn{verdict.turn->tenant, {}, {}};
  status.lease = std::move(lease);
  status.gpus = requested_gpus(job.spec);
  status.workers = {};
  if (verdict.claim) return begin_claim(seen, std::move(status), verdict);
  return begin_hold(seen, std::move(status));
}

// A suspended job does what it was asked to do, also if it could not run: nobody has to act before it is
// resumed. invalid: what would keep it from running then; it is told now, to the person who writes the job.
Step plan_suspended(const Observation& seen, const std::optional<api::Problem>& invalid) {
  auto status = seen.job.status;
  std::optional<Note> note;
  if (status.phase != phase::kSuspended) note = {false, reason::kSuspended, "suspended"};
  status.phase = phase::kSuspended;
  status.reason = reason::kSuspended;
  status.message = "spec.suspend is true";
  set_turn(status, {});
  if (invalid) {
    status.message += "; the job cannot run as it is: " + invalid->message;
    if (status.message != seen.job.status.message) note = {true, invalid->reason, invalid->message};
  }
  reset_clock(status);
  return settle(seen, std::move(status), std::nullopt, std::nullopt, std::move(note));
}

// Keeps a job out of the queue while the cause that stalled its last lease remains. Tries it again without a
// node (step::Rehearse). Nothing: the job may enter the queue.
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

// What the server refuses is known before the first node is taken. A later lease asks if its workers do not
// come (step::RehearsePod).
std::optional<Step> before_first_lease(const Observation& seen) {
  if (seen.job.status.lease_sequence > 0) return std::nullopt;
  if (!seen.first_rehearsal.done) return step::RehearseFirst{};
  if (!seen.first_rehearsal.problem) return std::nullopt;
  return stall(seen, *seen.first_rehearsal.problem, retry_pause(seen.job, seen.now));
}

}  // namespace

Step plan_queued(const Observation& seen) {
  const auto& job = seen.job;
  if (finished(job.status)) return plan_finished(seen);
  const auto invalid = validate_job(job, seen.pool.get(), *seen.template_fields);
  if (job.spec.suspend) return plan_suspended(seen, invalid);
  if (invalid) return stall(seen, *invalid, std::nullopt);
  if (auto late = enforce_deadline(seen)) return *std::move(late);
  if (auto out = stay_out_of_line(seen)) return *std::move(out);
  if (auto drop = drop_before_queue(seen)) return *std::move(drop);
  const auto until_deadline = time_left(seen, job.status.start_time, job.spec.active_deadline_seconds);
  if (seen.pool == nullptr) return await_pool(seen, until_deadline);
  if (const auto left = until_placed_again(job, seen.now); left > base::Duration::zero()) {
    return step::Idle{until_deadline ? std::min(left, *until_deadline) : left};
  }
  if (seen.funds.problem) return await_funds(seen, *seen.funds.problem, until_deadline);
  if (!seen.verdict) return step::AskQueue{};
  if (seen.verdict->reason == reason::kPoolNotFound) return await_pool(seen, until_deadline);
  if (seen.verdict->nodes.empty()) return wait(seen, *seen.verdict, until_deadline);
  if (auto first = before_first_lease(seen)) return *std::move(first);
  return take(seen, *seen.verdict);
}

}  // namespace gpupool::planning
