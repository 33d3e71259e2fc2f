// SPDX-License-Identifier: Apache-2.0
#include "runtime/controller/controller_metrics.h"

namespace gpupool::runtime {

namespace {

base::Counter& reconciles(base::Metrics& metrics, const std::string& controller, const std::string& result) {
  return metrics.counter("controller_runtime_reconcile_total", "Reconciles by result",
                         {{"controller", controller}, {"result", result}});
}

}  // namespace

ControllerMetrics make_controller_metrics(base::Metrics& metrics, const std::string& controller) {
  const base::Labels labels{{"controller", controller}};
  const std::vector<double> seconds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  return {
      .success = reconciles(metrics, controller, "success"),
      .requeue_after = reconciles(metrics, controller, "requeue_after"),
      .error = reconciles(metrics, controller, "error"),
      .errors = metrics.counter("controller_runtime_reconcile_errors_total",
                                "Reconciles that returned an error", labels),
      .panics = metrics.counter("controller_runtime_reconcile_panics_total", "Reconciles that threw", labels),
      .seconds = metrics.histogram("controller_runtime_reconcile_time_seconds", "Time a reconcile takes",
                                   seconds, labels),
      .active_threads =
          metrics.gauge("controller_runtime_active_workers", "Reconcile threads that are busy", labels),
      .max_threads = metrics.gauge("controller_runtime_max_concurrent_reconciles",
                                   "Reconcile threads of the controller", labels),
  };
}

}  // namespace gpupool::runtime
