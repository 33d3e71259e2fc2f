// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/v1alpha1/gpu_sweep.h"
#include "base/metrics.h"

namespace gpupool::controllers {

// Counters of sweeps. Thread-safe. REQUIRES: the metrics outlive this.
class SweepMetrics {
 public:
  explicit SweepMetrics(base::Metrics& metrics) : metrics_(metrics) {}
  // Call when `after` has been written.
  void on_status(const api::GpuSweepStatus& before, const api::GpuSweepStatus& after);

 private:
  base::Metrics& metrics_;
};

}  // namespace gpupool::controllers
