// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "base/metrics.h"
#include "planning/pool/draining_nodes.h"

namespace gpupool::controllers {

// The gpupool_pool_* metrics. Those of a pool are made when a drained node of it is held for the first time,
// so that nobody else has them. Not thread-safe: one reconcile thread.
class PoolMetrics {
 public:
  explicit PoolMetrics(base::Metrics& metrics) : metrics_(metrics) {}

  // Call at each count of the pool's nodes; with nothing when the pool is gone.
  void on_drains(const std::string& pool, const planning::Drains& drains);

 private:
  base::Metrics& metrics_;
  std::set<std::string> pools_;  // that have these metrics
};

}  // namespace gpupool::controllers
