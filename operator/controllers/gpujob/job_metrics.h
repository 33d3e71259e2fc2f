#pragma once

#include <map>
#include <mutex>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "base/metrics.h"

namespace gpupool::controllers {

// gpupool_* metrics of jobs. Labels are phases and reasons only. Thread-safe.
class JobMetrics {
 public:
  explicit JobMetrics(base::Metrics& metrics);

  // Call with the status before and after a write that succeeded.
  void on_status(const api::GpuJob& before, const api::GpuJobStatus& after, base::WallTime now);
  void on_marks_restored() { marks_restored_.increment(); }
  // Keeps gpupool_jobs{phase}; call with each change of the cache, null where there is none.
  void on_change(const api::GpuJob* before, const api::GpuJob* after);

 private:
  void add(const api::GpuJob* job, double more);

  base::Metrics& metrics_;
  base::Histogram& queue_wait_;
  base::Histogram& lease_duration_;
  base::Counter& marks_restored_;
  std::mutex mutex_;
  std::map<std::string, double> jobs_;  // by phase
};

}  // namespace gpupool::controllers
