// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/metrics.h"

namespace gpupool::runtime {

// controller-runtime's metrics of one controller. REQUIRES: the Metrics outlives this.
struct ControllerMetrics {
  base::Counter& success;
  base::Counter& requeue_after;
  base::Counter& error;
  base::Counter& errors;
  base::Counter& panics;
  base::Histogram& seconds;
  base::Gauge& active_threads;
  base::Gauge& max_threads;
};

ControllerMetrics make_controller_metrics(base::Metrics& metrics, const std::string& controller);

}  // namespace gpupool::runtime
