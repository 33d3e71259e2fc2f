// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/metrics.h"

namespace gpupool::runtime {

// The metrics of one WorkQueue, with client-go's names. REQUIRES: the Metrics outlives the queue.
struct QueueMetrics {
  base::Gauge& depth;
  base::Counter& adds;
  base::Counter& retries;
  base::Histogram& queue_seconds;
  base::Histogram& work_seconds;
};

// name: the name of the controller.
QueueMetrics make_queue_metrics(base::Metrics& metrics, const std::string& name);

}  // namespace gpupool::runtime
