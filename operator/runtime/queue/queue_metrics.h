#pragma once

#include <string>

#include "base/metrics.h"

namespace gpupool::runtime {

// What a WorkQueue tells about itself, under client-go's names. The Metrics must outlive it.
struct QueueMetrics {
  base::Gauge& depth;
  base::Counter& adds;
  base::Counter& retries;
  base::Histogram& queue_seconds;
  base::Histogram& work_seconds;
};

// name: the controller's.
QueueMetrics make_queue_metrics(base::Metrics& metrics, const std::string& name);

}  // namespace gpupool::runtime
