#pragma once

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
  // Sets gpupool_jobs{phase}; call with a phase's number of jobs.
  void set_phase_count(const std::string& phase, double jobs);

 private:
  base::Metrics& metrics_;
  base::Histogram& queue_wait_;
  base::Histogram& lease_duration_;
  base::Counter& marks_restored_;
};

}  // namespace gpupool::controllers
