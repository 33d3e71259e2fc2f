// SPDX-License-Identifier: Apache-2.0
// The last thing of a reconcile: the answer to a person who asks why the job does not run.
#include <algorithm>
#include <utility>

#include "controllers/gpujob/reconciler.h"
#include "planning/forecast/explain.h"

namespace gpupool::controllers {

base::Result<runtime::Requeue> GpuJobReconciler::answer(State& state, runtime::Requeue next,
                                                        std::stop_token stop) {
  const auto key = state.job->metadata.key();
  const bool goes = state.job->metadata.deleting() && !state.job->status.lease;
  if (goes || !planning::is_asked(*state.job)) {
    turns_.leave(key);
    return next;
  }
  if (const auto wait = turns_.take(key); wait > base::Duration::zero()) {
    next.after = std::min(next.after.value_or(wait), wait);
    return next;
  }
  auto status = state.job->status;
  status.explanation = actions_.explain(*state.job);
  auto job = actions_.write_status(*state.job, status, std::move(stop));
  if (!job && job.error().code == base::ErrorCode::kNotFound) return runtime::Requeue{};
  if (!job) return tl::unexpected<base::Error>(job.error());
  turns_.answered(key);
  state.job = *job;
  return next;
}

}  // namespace gpupool::controllers
