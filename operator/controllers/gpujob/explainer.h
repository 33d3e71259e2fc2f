// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/v1alpha1/explanation.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/cluster/caches.h"
#include "controllers/queue/pool_queue.h"
#include "planning/forecast/run_times.h"

namespace gpupool::controllers {

// Answers why a job does not run, from the caches and the queues. Does nothing until asked, except that it
// remembers how long jobs have run. Thread-safe.
class Explainer {
 public:
  // REQUIRES: all outlive this.
  Explainer(const Caches& caches, PoolQueue& queue, const base::Clock& clock)
      : caches_(caches), queue_(queue), clock_(clock) {}

  // Takes at most about 50 ms for the forecast. Writes nothing.
  api::Explanation explain(const api::GpuJob& job);

  // How long ended jobs have run.
  planning::RunTimes::ByKind history();

  // Call for each change of a job. Called by a reflector's thread; does not block.
  void on_job(const runtime::Change<api::GpuJob>& change);

 private:
  // The queues of other pools in which the job could run.
  std::vector<planning::QueueSnapshot> others(const api::GpuJob& job);

  const Caches& caches_;
  PoolQueue& queue_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  planning::RunTimes run_times_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::controllers
