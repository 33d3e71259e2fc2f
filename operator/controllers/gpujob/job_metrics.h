// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace gpupool::controllers {

// The gpupool_* metrics of jobs. Labels are only phases and reasons. Thread-safe.
class JobMetrics {
 public:
  explicit JobMetrics(base::Metrics& metrics);

  // Call with the status before and after a write that succeeded.
  void on_status(const api::GpuJob& before, const api::GpuJobStatus& after, base::WallTime now);
  void on_marks_restored() { marks_restored_.increment(); }
  // Updates gpupool_jobs{phase}. Called for each change of the cache; null if the object was added or
  // deleted.
  void on_change(const api::GpuJob* before, const api::GpuJob* after);

 private:
  void on_end_of_attempt(const api::GpuJobStatus& before, const api::JobProgress& after);
  void on_claim(const api::GpuJobStatus& before, const api::GpuJobStatus& after);
  void on_transfers(const api::GpuJobStatus& before, const api::GpuJobStatus& after);
  void add(const api::GpuJob* job, double more) GPUPOOL_REQUIRES(mutex_);

  base::Metrics& metrics_;
  base::Histogram& queue_wait_;
  base::Histogram& lease_duration_;
  base::Counter& marks_restored_;
  base::Mutex mutex_;
  std::map<std::string, double> jobs_ GPUPOOL_GUARDED_BY(mutex_);  // by phase
};

}  // namespace gpupool::controllers
