// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweep/sweep_metrics.h"

#include <cstdint>

namespace gpupool::controllers {

void SweepMetrics::on_status(const api::GpuSweepStatus& before, const api::GpuSweepStatus& after) {
  const auto count = [&](const char* outcome, std::int64_t more) {
    if (more <= 0) return;
    metrics_
        .counter("gpupool_sweep_trials_finished_total", "Trials of sweeps that ended, by outcome",
                 {{"outcome", outcome}})
        .increment(static_cast<double>(more));
  };
  count("succeeded", after.counts.succeeded - before.counts.succeeded);
  count("failed", after.counts.failed - before.counts.failed);
  count("stopped", after.counts.stopped - before.counts.stopped);
  if (before.completion_time || !after.completion_time) return;
  metrics_
      .counter("gpupool_sweeps_finished_total", "Sweeps that ended, by reason", {{"reason", after.reason}})
      .increment();
}

}  // namespace gpupool::controllers
