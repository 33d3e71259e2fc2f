#include "planning/job_plan.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job_plan_steps.h"
#include "planning/job_status.h"

namespace gpupool::planning {
namespace {

namespace state = api::lease_state;

Step plan_deletion(const Observation& seen) {
  const auto& lease = seen.job.status.lease;
  if (lease && lease->state != state::kReleasing) {
    return release(seen, api::outcome::kDeleted, {api::reason::kDeleted, "the job was deleted"}, false);
  }
  if (holds_nodes(seen.job.status)) return plan_releasing(seen);
  if (lease) return step::Idle{std::chrono::seconds(5)};  // lost nodes: their processes may still run
  if (!seen.job.metadata.has_finalizer(api::kLease)) return step::Idle{};
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  if (stale_workers_run(seen, "")) return step::Idle{};
  // No live look: a lease is only taken off the status when nothing is left of it, and the finalizer only
  // goes if the job is still as that status said.
  return step::RemoveFinalizer{};
}

}  // namespace

api::ObjectMeta metadata_of(const Child& child, const api::GpuJob& job) {
  api::ObjectMeta metadata;
  metadata.name = child.key.name;
  metadata.ns = child.key.ns;
  metadata.uid = child.uid;
  metadata.owner_references = {
      {std::string(api::GpuJob::kType.kind), job.metadata.name, job.metadata.uid, true}};
  return metadata;
}

Step plan_job(const Observation& seen) {
  const auto& status = seen.job.status;
  // Somebody took it off, for example `kubectl replace` with a file that does not have it.
  const bool guarded = seen.job.metadata.deleting() || seen.job.metadata.has_finalizer(api::kLease);
  if (status.lease && !guarded) return step::AddFinalizer{};
  if (auto first = take_new_nodes(seen)) return *std::move(first);
  if (auto lost = plan_lost_nodes(seen)) return *std::move(lost);
  if (seen.job.metadata.deleting()) return plan_deletion(seen);
  if (!holds_nodes(status)) return plan_queued(seen);
  const auto& now = status.lease->state;
  if (now == state::kTaking) return plan_taking(seen);
  if (now == state::kHeld) return plan_held(seen);
  if (now == state::kRunning) return plan_running(seen);
  if (now == state::kRestarting) return plan_restarting(seen);
  return plan_releasing(seen);  // also a state of a newer operator: give back rather than guess
}

}  // namespace gpupool::planning
