#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job_plan_steps.h"
#include "planning/job_status.h"
#include "planning/line_entry.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

// One node is taken or it is not: the workers follow in the same breath, and Held is left out. It is written
// after all if they cannot be made at once, so that nobody stands still in Taking.
bool skips_held(const api::Lease& lease) { return !lease.shared() && lease.nodes.size() == 1; }

bool shows_workers(const Observation& seen) {
  const auto& id = seen.job.status.lease->id;
  return std::any_of(seen.pods.begin(), seen.pods.end(),
                     [&](const auto& pod) { return pod->metadata.label(api::kLease) == id; }) ||
         std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& child) {
           return child.lease_id == id && child.type != &api::Service::kType;
         });
}

// Workers may have started before it was said: their attempt's number is used up. Refused ones never did,
// unless they are there: then it was the node that was refused, to an operator that came later.
bool may_have_started(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  const bool unsaid = lease.state == state::kHeld || (lease.state == state::kTaking && skips_held(lease));
  return unsaid && (!seen.blocked || shows_workers(seen));
}

std::string uid_of_workload(const Observation& seen) {
  const auto found = std::find_if(seen.children.begin(), seen.children.end(), [&](const Child& child) {
    return child.lease_id == seen.job.status.lease->id && child.type != &api::Service::kType &&
           !child.deleting;
  });
  return found == seen.children.end() ? std::string() : found->uid;
}

Step begin_attempt(const Observation& seen) {
  auto status = seen.job.status;
  status.lease->workload = uid_of_workload(seen);
  const auto& lease = *status.lease;
  if (!status.start_time) status.start_time = seen.now;
  status.attempts = lease.attempt + 1;
  status.workers = {api::worker_count(seen.job.spec), 0, 0};
  const auto attempt = "attempt " + std::to_string(lease.attempt);
  auto told = attempt + " starts on " + summarize_nodes(lease.nodes);
  if (lease.shared()) told += " with " + std::to_string(lease.slices) + " slices for each worker";
  return advance(seen, std::move(status), state::kRunning, phase::kStarting,
                 {reason::kStartingWorkers, "workers of " + attempt + " are starting"},
                 Note{false, reason::kStartingWorkers, told});
}

}  // namespace

std::optional<base::Duration> time_left(const Observation& seen, const std::optional<base::WallTime>& begin,
                                        const std::optional<std::int64_t>& seconds) {
  if (!begin || !seconds) return std::nullopt;
  const auto end = *begin + std::chrono::seconds(*seconds);
  if (end <= seen.now) return base::Duration::zero();
  return std::chrono::duration_cast<base::Duration>(end - seen.now);
}

Step advance(const Observation& seen, api::GpuJobStatus status, const std::string& next,
             const std::string& in_phase, const Problem& why, std::optional<Note> note) {
  status.lease->state = next;
  status.lease->since = seen.now;
  if (next != state::kRestarting) status.lease->not_before.reset();
  status.phase = in_phase;
  status.reason = why.reason;
  status.message = why.message;
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), std::move(note)};
}

Step release(const Observation& seen, const std::string& outcome, const Problem& why, bool warning) {
  auto status = seen.job.status;
  if (may_have_started(seen)) status.attempts = status.lease->attempt + 1;
  status.lease->outcome = outcome;
  status.lease->state = state::kReleasing;
  status.lease->since = seen.now;
  status.lease->not_before.reset();
  status.phase = phase::kReleasing;
  status.reason = why.reason;
  status.message = why.message;
  if (outcome == api::outcome::kSucceeded || outcome == api::outcome::kFailed)
    status.completion_time = seen.now;
  const bool stalls = outcome == api::outcome::kQueued && keeps_out_of_line(why.reason);
  settle_status(status, seen.job.metadata.generation, stalls ? std::optional(why) : std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), Note{warning, why.reason, why.message}};
}

std::optional<Step> enforce_deadline(const Observation& seen) {
  const auto& job = seen.job;
  const auto left = time_left(seen, job.status.start_time, job.spec.active_deadline_seconds);
  if (!left || *left > base::Duration::zero()) return std::nullopt;
  const Problem why{reason::kDeadlineExceeded,
                    "was active longer than " + std::to_string(*job.spec.active_deadline_seconds) + " s"};
  if (holds_nodes(job.status)) return release(seen, api::outcome::kFailed, why, true);
  auto status = job.status;  // waiting in the queue again: nothing to give back
  status.phase = phase::kFailed;
  status.reason = why.reason;
  status.message = why.message;
  status.completion_time = seen.now;
  settle_status(status, job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), Note{true, why.reason, why.message}};
}

std::optional<Step> interrupt_before_workers(const Observation& seen) {
  const auto& job = seen.job;
  if (seen.blocked) return release(seen, api::outcome::kQueued, *seen.blocked, true);
  if (job.spec.suspend) {
    return release(seen, api::outcome::kSuspended, {reason::kSuspended, "spec.suspend is true"}, false);
  }
  if (auto late = enforce_deadline(seen)) return late;
  if (api::spec_hash(job.spec) != job.status.lease->spec_hash) {
    return release(seen, api::outcome::kQueued,
                   {reason::kSpecChanged, "the spec changed before the workers started; queued again"}, true);
  }
  if (seen.pool != nullptr && seen.pool->spec.sharing.has_value() != job.status.lease->shared()) {
    return release(seen, api::outcome::kQueued,
                   {reason::kSpecChanged, "spec.sharing of the pool was " +
                                              std::string(job.status.lease->shared() ? "removed" : "added") +
                                              " before the workers started; queued again"},
                   true);
  }
  return std::nullopt;
}

Step plan_taking(const Observation& seen) {
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
  if (!status.start_time) status.start_time = seen.now;
  const auto nodes = summarize_nodes(status.lease->nodes);
  return advance(seen, std::move(status), state::kHeld, phase::kStarting,
                 {reason::kStartingWorkers, "starting workers on " + nodes}, std::nullopt);
}

// Nodes are not held for workers that cannot be made: neither by a server that fails, nor behind an older
// object that does not go away.
constexpr std::int64_t kHeldSeconds = 30;
constexpr base::Duration kTellLate = std::chrono::seconds(3);  // what is shorter nobody needs to know

Step await_children(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  const auto left = time_left(seen, lease.since, kHeldSeconds).value_or(base::Duration::zero());
  const auto cause = seen.late_cause.empty() ? "the workers could not be created" : seen.late_cause;
  if (left == base::Duration::zero())
    return release(seen, api::outcome::kQueued, {reason::kCreateFailed, cause}, true);
  const auto text = "workers on " + summarize_nodes(lease.nodes) + " cannot be created yet: ";
  const bool tell = lease.since && seen.now >= *lease.since + kTellLate;
  if (tell &&
      !seen.job.status.message.starts_with(text)) {  // told once: the cause may name a port or a request
    auto status = seen.job.status;
    status.message = text + cause;
    settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
    return step::WriteStatus{std::move(status)};
  }
  return step::Idle{std::min<base::Duration>(left, std::chrono::milliseconds(500))};
}

Step plan_held(const Observation& seen) {
  if (auto end = interrupt_before_workers(seen)) return *std::move(end);
  if (auto left = leave_nodes(seen)) return *std::move(left);
  if (auto waits = await_nodes(seen, nodes_to_await(seen))) return *std::move(waits);
  if (!seen.nodes_taken && !nodes_carry(seen)) return step::TakeNodes{};
  if (seen.children_late) return await_children(seen);
  if (!seen.children_made) return step::CreateChildren{};
  return begin_attempt(seen);
}

Step plan_restarting(const Observation& seen) {
  if (auto end = interrupt_before_workers(seen)) return *std::move(end);
  if (auto left = leave_nodes(seen)) return *std::move(left);
  if (auto left = leave_stuck_nodes(seen)) return *std::move(left);
  const auto& lease = *seen.job.status.lease;
  if (auto drop = drop_stale_workers(seen, lease.id)) return *std::move(drop);
  if (auto waits = await_nodes(seen, nodes_to_await(seen))) return *std::move(waits);
  if (stale_workers_run(seen, lease.id)) return await_kubelets(seen);
  if (!seen.live) return step::LookLive{};
  if (!seen.nodes_taken && !lease.shared()) return step::TakeNodes{{}, ended_pods(seen, lease.id)};
  if (lease.not_before && *lease.not_before > seen.now) {
    return step::Idle{std::chrono::duration_cast<base::Duration>(*lease.not_before - seen.now)};
  }
  auto status = seen.job.status;
  return advance(seen, std::move(status), state::kHeld, phase::kRestarting,
                 {reason::kStartingWorkers, "restarting: " + seen.job.status.message}, std::nullopt);
}

}  // namespace gpupool::planning
