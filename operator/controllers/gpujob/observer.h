// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/mutex.h"
#include "base/pace.h"
#include "controllers/gpujob/job_actions.h"
#include "controllers/gpujob/pod_stopwatch.h"
#include "controllers/gpujob/reconcile_state.h"
#include "planning/job/lease_ends.h"
#include "planning/job/observation.h"

namespace gpupool::controllers {

// Collects the Observation of a job from the caches and from what the reconcile has done. No requests, no
// writes. Thread-safe: reconcile threads call it, and handlers call forget_pod() and forget_job().
class JobObserver {
 public:
  JobObserver(JobActions& actions, const base::Clock& clock);

  // The result refers to state.job.
  planning::Observation observe(const ReconcileState& state);

  // Call after the status of the job was written.
  void on_status(const api::GpuJob& job, const api::GpuJobStatus& status);
  // Call after the server has accepted these deletions (planning::LeaseEnds).
  void on_deleted(const planning::Child& child);
  void on_deleted(const api::Pod& pod);
  // Call when the watch shows that they are gone.
  void forget_pod(const std::string& uid);
  void forget_job(const std::string& uid);

 private:
  JobActions& actions_;
  const base::Clock& clock_;
  base::Pace writes_;         // status writes, by job
  PodStopwatch unproven_;     // Observation::unproven_for
  PodStopwatch unconfirmed_;  // Observation::unconfirmed_for
  PodStopwatch stuck_;        // Observation::stuck_for, by lease value
  base::Mutex mutex_;
  planning::LeaseEnds ends_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::controllers
