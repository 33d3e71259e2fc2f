// SPDX-License-Identifier: Apache-2.0
#include "planning/job/attempt_end.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/plan_restart.h"
#include "planning/job/worker_views.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

// Number of losses without a visible cause that are not charged. A machine that goes down may stop its
// containers before anything reports it. More losses come from the program or its pod.
constexpr std::int64_t kForgivenLosses = 3;

}  // namespace

Step fail_attempt(const Observation& seen, api::GpuJobStatus status, const WorkerView& crash) {
  return fail_attempt(seen, std::move(status), {reason::kWorkerFailed, of_rank(crash)});
}

Step fail_attempt(const Observation& seen, api::GpuJobStatus status, const api::Problem& cause) {
  ++status.failures;
  const auto text = "attempt " + std::to_string(status.lease->attempt) + ": " + cause.message;
  if (status.failures <= seen.job.spec.backoff_limit)
    return restart(seen, std::move(status), {cause.reason, text});
  // What the owner of a node forbids says more than how often a job may fail.
  const bool forbidden = cause.reason == reason::kSliceExceeded;
  const api::Problem why{forbidden ? cause.reason : reason::kBackoffLimitExceeded, text};
  status.lease->outcome = api::outcome::kFailed;
  status.completion_time = seen.now;
  return advance(seen, std::move(status), state::kReleasing, phase::kReleasing, why,
                 Note{true, why.reason, why.message});
}

Step lose_attempt(const Observation& seen, const WorkerView& lost) {
  auto status = seen.job.status;
  if (seen.job.spec.checkpoint && lost.yielded) {
    return restart(
        seen, std::move(status),
        {reason::kYielded, "rank " + std::to_string(lost.rank) +
                               " was told to stop and ended with code 0; the attempt is not charged"});
  }
  if (!lost.unexplained)
    return restart(seen, std::move(status),
                   {reason::kWorkerLost, of_rank(lost) + "; the attempt is not charged"});
  const auto losses = ++status.unexplained_losses;
  if (losses > kForgivenLosses) return fail_attempt(seen, std::move(status), lost);
  return restart(
      seen, std::move(status),
      {reason::kWorkerLost, of_rank(lost) + "; the attempt is not charged (" + std::to_string(losses) +
                                " of " + std::to_string(kForgivenLosses) + " losses without a known cause)"});
}

}  // namespace gpupool::planning
