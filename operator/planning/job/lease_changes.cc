// SPDX-License-Identifier: Apache-2.0
#include "planning/job/lease_changes.h"

#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/last_lines.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/active_time.h"
#include "planning/job/job_status.h"
#include "planning/job/line_entry.h"
#include "planning/job/suspension.h"
#include "planning/workers/child.h"
#include "planning/workers/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

// How the pool's sharing differs from what the lease was taken for; empty if it does not.
std::string change_of_sharing(const api::GpuPool* pool, const api::Lease& lease) {
  if (pool == nullptr) return {};
  if (pool->spec.sharing.has_value() != lease.shared()) return lease.shared() ? "removed" : "added";
  return pool->spec.rents_gpus() == lease.of_gpus() ? "" : "changed";
}

bool shows_workers(const Observation& seen) {
  const auto& id = seen.job.status.lease->id;
  return std::any_of(seen.pods.begin(), seen.pods.end(),
                     [&](const auto& pod) { return pod->metadata.label(api::kLease) == id; }) ||
         std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& child) {
           return child.lease_id == id && child.type != &api::Service::kType;
         });
}

// True if workers may have started although the status does not say so; then the number of the attempt is
// used up. Refused workers have not started, except if they exist: then an operator that came later was
// refused a node.
bool may_have_started(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  const bool unsaid = lease.state == state::kHeld || (lease.state == state::kTaking && skips_held(lease));
  return unsaid && (!seen.blocked || shows_workers(seen));
}

}  // namespace

bool skips_held(const api::Lease& lease) { return !lease.shared() && lease.nodes.size() == 1; }

std::optional<base::Duration> time_left(const Observation& seen, const std::optional<base::WallTime>& begin,
                                        const std::optional<std::int64_t>& seconds) {
  if (!begin || !seconds) return std::nullopt;
  const auto end = *begin + std::chrono::seconds(*seconds);
  if (end <= seen.now) return base::Duration::zero();
  return std::chrono::duration_cast<base::Duration>(end - seen.now);
}

api::Problem all_succeeded(const std::vector<WorkerView>& views) {
  api::Problem why{reason::kCompleted, "all workers succeeded"};
  const auto& lines = views.front().last_lines;
  if (!lines.empty()) why.message += std::string(api::kLastLines) + lines;
  return why;
}

Step advance(const Observation& seen, api::GpuJobStatus status, const std::string& next,
             const std::string& in_phase, const api::Problem& why, std::optional<Note> note) {
  status.lease->state = next;
  status.lease->since = seen.now;
  if (next != state::kRestarting) status.lease->not_before.reset();
  status.phase = in_phase;
  status.reason = why.reason;
  status.message = why.message;
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), std::move(note)};
}

void show_nodes(const api::GpuJob& job, api::GpuJobStatus& status) {
  status.node_names = summarize_nodes(status.lease->nodes);
  status.master = master_address(job, status.lease->id);
}

// Nothing is written on shared nodes: this status write is the reservation.
Step begin_hold(const Observation& seen, api::GpuJobStatus status) {
  status.lease->held_since = seen.now;
  set_turn(status, {});
  show_nodes(seen.job, status);
  const auto nodes = status.node_names;
  if (!status.lease->shared()) {
    return advance(seen, std::move(status), state::kTaking, phase::kStarting,
                   {reason::kTakingNodes, "taking " + nodes}, std::nullopt);
  }
  start_clock(status, seen.now);
  return advance(seen, std::move(status), state::kHeld, phase::kStarting,
                 {reason::kStartingWorkers, "starting workers on " + nodes}, std::nullopt);
}

Step release(const Observation& seen, const std::string& outcome, const api::Problem& why, bool warning) {
  auto status = seen.job.status;
  if (may_have_started(seen)) status.attempts = status.lease->attempt + 1;
  return release(seen, std::move(status), outcome, why, warning);
}

Step release(const Observation& seen, api::GpuJobStatus status, const std::string& outcome,
             const api::Problem& why, bool warning) {
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
  // The Event of a success tells what happened, not what was printed.
  const bool good = outcome == api::outcome::kSucceeded;
  return step::WriteStatus{
      std::move(status),
      Note{warning, why.reason, good ? std::string(api::without_last_lines(why.message)) : why.message}};
}

std::optional<Step> enforce_deadline(const Observation& seen) {
  const auto& job = seen.job;
  const auto left = time_left(seen, job.status.start_time, job.spec.active_deadline_seconds);
  if (!left || *left > base::Duration::zero()) return std::nullopt;
  const api::Problem why{
      reason::kDeadlineExceeded,
      "was active longer than " + std::to_string(*job.spec.active_deadline_seconds) + " s"};
  if (holds_nodes(job.status)) return release(seen, api::outcome::kFailed, why, true);
  auto status = job.status;  // a queued job holds no nodes
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
  if (auto why = suspension(seen)) return release(seen, api::outcome::kSuspended, *std::move(why), false);
  if (auto late = enforce_deadline(seen)) return late;
  if (api::spec_hash(job.spec) != job.status.lease->spec_hash) {
    return release(seen, api::outcome::kQueued,
                   {reason::kSpecChanged, "the spec changed before the workers started; queued again"}, true);
  }
  if (const auto change = change_of_sharing(seen.pool.get(), *job.status.lease); !change.empty()) {
    return release(seen, api::outcome::kQueued,
                   {reason::kSpecChanged,
                    "spec.sharing of the pool was " + change + " before the workers started; queued again"},
                   true);
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
