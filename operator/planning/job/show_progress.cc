// SPDX-License-Identifier: Apache-2.0
#include "planning/job/show_progress.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_drain.h"
#include "planning/job/plan_move.h"
#include "planning/job/save_results.h"
#include "planning/job/slice_excess.h"
#include "planning/job/worker_waits.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace phase = api::phase;

constexpr base::Duration kBlockedRetry = std::chrono::seconds(5);

// True if the counts differ only because workers have succeeded, or save their results. Other changes are
// written at once, because lost pods are detected by the counts.
bool only_ends(const api::GpuJobStatus& before, api::GpuJobStatus after) {
  const auto all = [](const api::WorkerCounts& workers) { return workers.running + workers.succeeded; };
  if (all(before.workers) != all(after.workers) || after.workers.succeeded < before.workers.succeeded)
    return false;
  after.workers = before.workers;
  if (before.phase == phase::kRunning && after.phase == phase::kRunning) after.message = before.message;
  return after == before;
}

// Looks again after so long at the latest.
void wake(std::optional<base::Duration>& again, base::Duration after) {
  again = again ? std::min(*again, after) : after;
}

// Shows WaitingForResult in the status. Returns a note if that is new.
std::optional<Note> await_result(const Observation& seen, const WorkerView& unproven,
                                 api::GpuJobStatus& status) {
  status.reason = reason::kWaitingForResult;
  status.message = of_rank(unproven) + "; waiting for its result";
  if (seen.job.status.reason == status.reason) return std::nullopt;
  return Note{true, status.reason, status.message};
}

// Not all workers run yet: says in the status what they wait for. Returns the end of a job that takes too
// long.
std::optional<Step> show_start(const Observation& seen, const WorkerViews& views, api::GpuJobStatus& status,
                               std::optional<base::Duration>& again) {
  const auto limit = start_limit(seen);
  const auto left = time_left(seen, status.lease->since, limit);
  const auto* pending = first(views, WorkerState::kPending);
  const auto text = pending != nullptr ? of_rank(*pending) : "workers are being created";
  if (*left == base::Duration::zero()) {
    return release(
        seen, api::outcome::kFailed,
        {reason::kStartTimeout, "workers did not start within " + std::to_string(limit) + " s: " + text},
        true);
  }
  // Not the rank: in a large gang it would change again and again.
  if (pending != nullptr && pending->message != kStarting)
    status.message = pending->message == kFetching ? "the source is being fetched" : text;
  if (const auto silent = silent_start(seen, views)) {
    wake(again, until_mounts_asked(seen.now - *status.lease->since));
    if (!seen.mounts.message.empty())
      status.message = "rank " + std::to_string(rank_of(*silent)) + ": " + seen.mounts.message;
  }
  if (first(views, WorkerState::kAbsent) != nullptr) wake(again, kPodsExpected);
  wake(again, *left);
  if (const auto moved = until_moved(seen, views)) wake(again, *moved);
  return std::nullopt;
}

}  // namespace

void set_running(const api::GpuJobSpec& spec, const api::WorkerCounts& workers, api::GpuJobStatus& status) {
  status.phase = phase::kRunning;
  status.reason = reason::kWorkersRunning;
  status.message = "attempt " + std::to_string(status.lease->attempt) + " is running";
  if (api::waits_for_rank_0(spec)) {
    status.message +=
        "; ranks above 0 start their command when rank 0 listens on port " + std::to_string(kMasterPort);
  }
  status.workers = workers;
}

Step show_progress(const Observation& seen, const WorkerViews& views) {
  auto status = seen.job.status;
  const auto total = static_cast<std::int64_t>(views.size());
  const auto running = count(views, WorkerState::kRunning) + count(views, WorkerState::kUnproven);
  const auto succeeded = count(views, WorkerState::kSucceeded);
  auto again = time_left(seen, status.start_time, seen.job.spec.active_deadline_seconds);
  if (const auto drain = until_drain_changes(seen)) wake(again, *drain);
  if (const auto loss = until_next_loss(seen)) wake(again, *loss);
  if (status.reason == reason::kWaitingForLostNode) {
    status.lease->since = seen.now;  // startTimeoutSeconds starts again
    status.reason = reason::kStartingWorkers;
    status.message = "workers of attempt " + std::to_string(status.lease->attempt) + " are starting";
  }
  std::optional<Note> note;
  if (running + succeeded == total || status.phase == phase::kRunning) {
    set_running(seen.job.spec, {total, running, succeeded}, status);
    if (const auto saved = until_saved(views)) {
      status.message += "; results are being saved";
      wake(again, *saved);
    }
    if (const auto* unproven = first(views, WorkerState::kUnproven)) {
      if (auto told = await_result(seen, *unproven, status)) note = std::move(told);
      wake(again, until_given_up(seen));
    } else if (auto text = drain_text(seen); !text.empty()) {
      if (status.reason != seen.job.status.reason || seen.job.status.reason != reason::kDraining)
        note = Note{false, reason::kDraining, text};
      status.reason = reason::kDraining;
      status.message = std::move(text);
    } else if (auto excess = excess_text(seen); !excess.empty()) {
      if (seen.job.status.reason != reason::kSliceExceeded) note = Note{true, reason::kSliceExceeded, excess};
      status.reason = reason::kSliceExceeded;
      status.message = std::move(excess);
    }
  } else if (auto late = show_start(seen, views, status, again)) {
    return *std::move(late);
  }
  std::optional<api::Problem> stalled;
  if (api::spec_hash(seen.job.spec) != status.lease->spec_hash) {
    stalled = api::Problem{
        reason::kSpecChanged,
        "pool, gpus, gpusPerWorker, slice, nodes, rendezvous, source, results, checkpoint or template "
        "changed while the job runs; the change takes effect with the next lease, or at once with a new "
        "value "
        "of the annotation gpupool.dev/restart"};
  }
  if (auto refused = why_not_restarted(seen)) stalled = std::move(refused);
  if (const auto tried = until_restart_is_tried(seen)) wake(again, *tried);
  if (seen.blocked) {  // a mark on a node, or the Service, could not be restored
    stalled = *seen.blocked;
    wake(again, kBlockedRetry);
  }
  settle_status(status, seen.job.metadata.generation, stalled, seen.now);
  if (status == seen.job.status) return step::Idle{again};
  if (seen.until_count > base::Duration::zero() && only_ends(seen.job.status, status))
    return step::Idle{again ? std::min(*again, seen.until_count) : seen.until_count};
  return step::WriteStatus{std::move(status), std::move(note)};
}

}  // namespace gpupool::planning
