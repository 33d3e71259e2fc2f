#pragma once

#include <string>

#include "base/metrics.h"

namespace gpupool::runtime {

// controller-runtime's metrics of one controller. The Metrics must outlive it.
struct ControllerMetrics {
  base::Counter& success;
  base::Counter& requeue_after;
  base::Counter& error;
  base::Counter& errors;
  base::Counter& panics;
  base::Histogram& seconds;
  base::Gauge& active_workers;
  base::Gauge& max_workers;
};

ControllerMetrics make_controller_metrics(base::Metrics& metrics, const std::string& controller);

}  // namespace gpupool::runtime
