// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpupool/pool_metrics.h"

#include <chrono>

namespace gpupool::controllers {

void PoolMetrics::on_drains(const std::string& pool, const planning::Drains& drains) {
  if (drains.held == 0 && !pools_.contains(pool)) return;
  pools_.insert(pool);
  metrics_
      .gauge("gpupool_pool_nodes_draining", "Nodes with gpupool.dev/drain that jobs still hold",
             {{"pool", pool}})
      .set(static_cast<double>(drains.held));
  const auto first = drains.first_deadline.value_or(base::WallTime());
  metrics_
      .gauge("gpupool_pool_drain_deadline_timestamp_seconds",
             "The first deadline of these nodes, in seconds since 1970; 0: none has one", {{"pool", pool}})
      .set(std::chrono::duration<double>(first.time_since_epoch()).count());
}

}  // namespace gpupool::controllers
