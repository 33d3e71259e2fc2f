// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue/queue_metrics.h"

namespace gpupool::runtime {

QueueMetrics make_queue_metrics(base::Metrics& metrics, const std::string& name) {
  const base::Labels labels{{"name", name}};
  // client-go's buckets start at 10 ns; nothing here takes less than 1 us.
  const std::vector<double> seconds{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
  return {
      .depth = metrics.gauge("workqueue_depth", "Keys that wait for a reconcile thread", labels),
      .adds =
          metrics.counter("workqueue_adds_total", "Keys added, without those that already waited", labels),
      .retries = metrics.counter("workqueue_retries_total", "Keys added again after an error", labels),
      .queue_seconds = metrics.histogram("workqueue_queue_duration_seconds",
                                         "How long a key waits for a worker", seconds, labels),
      .work_seconds = metrics.histogram("workqueue_work_duration_seconds", "How long a worker has a key",
                                        seconds, labels),
  };
}

}  // namespace gpupool::runtime
