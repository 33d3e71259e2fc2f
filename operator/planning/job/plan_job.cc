// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_job.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/attempt_history.h"
#include "planning/job/end_workers.h"
#include "planning/job/job_status.h"
#include "planning/job/kept_workers.h"
#include "planning/job/lease_changes.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_claim.h"
#include "planning/job/plan_lease.h"
#include "planning/job/plan_queued.h"
#include "planning/job/plan_release.h"
#include "planning/job/plan_restart.h"
#include "planning/job/plan_running.h"
#include "planning/job/record_bill.h"
#include "planning/job/record_metrics.h"
#include "planning/job/record_transfers.h"
#include "planning/job/settle_attempt.h"

namespace gpupool::planning {
namespace {

namespace state = api::lease_state;

Step plan_deletion(const Observation& seen) {
  const auto& lease = seen.job.status.lease;
  if (lease && lease->state != state::kReleasing) {
    return release(seen, api::outcome::kDeleted, {api::reason::kDeleted, "the job was deleted"}, false);
  }
  if (holds_nodes(seen.job.status)) return plan_releasing(seen);
  if (lease) return step::Idle{std::chrono::seconds(5)};  // processes on lost nodes may still run
  if (!seen.job.metadata.has_finalizer(api::kLease)) return step::Idle{};
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  if (stale_workers_run(seen, "")) return step::Idle{};
  // No read from the server: a lease is removed from the status only when nothing of it is left, and the
  // finalizer is removed only if the job is still as that status says.
  return step::RemoveFinalizer{};
}

Step plan(const Observation& seen) {
  const auto& status = seen.job.status;
  // Somebody may have removed it, for example with `kubectl replace` and a file without it.
  const bool guarded = seen.job.metadata.deleting() || seen.job.metadata.has_finalizer(api::kLease);
  if (status.lease && !guarded) return step::AddFinalizer{};
  if (auto undone = restore_taints(seen)) return *std::move(undone);
  if (auto kept = release_kept(seen)) return *std::move(kept);
  if (awaits_others(status)) return plan_awaiting(seen);
  if (auto first = take_new_nodes(seen)) return *std::move(first);
  if (auto lost = plan_lost_nodes(seen)) return *std::move(lost);
  if (seen.job.metadata.deleting()) return plan_deletion(seen);
  if (!holds_nodes(status)) return plan_queued(seen);
  const auto& now = status.lease->state;
  if (now == state::kTaking) return plan_taking(seen);
  if (now == state::kHeld) return plan_held(seen);
  if (now == state::kRunning) return plan_running(seen);
  if (now == state::kRestarting) return plan_restarting(seen);
  return plan_releasing(seen);  // also in an unknown state of a newer operator
}

}  // namespace

Step plan_job(const Observation& seen) {
  auto next = record_transfers(seen, record_metrics(seen, plan(seen)));
  return record_bill(seen, record_end(seen, record_last_report(seen, std::move(next))));
}

}  // namespace gpupool::planning
