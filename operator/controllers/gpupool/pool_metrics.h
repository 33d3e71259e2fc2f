// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/v1alpha1/gpu_pool.h"
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
  // Call at each count with the queue of a pool; null: the pool is gone, or has no spec.queue. Tenants that
  // the pool does not name are summed.
  void on_queue(const std::string& name, const api::GpuPool* pool, const api::QueueStatus* queue);

 private:
  base::Metrics& metrics_;
  void set_tenant(const std::string& pool, const std::string& tenant, double queued, double held,
                  double average, double guaranteed);

  std::set<std::string> pools_;                           // that have these metrics
  std::map<std::string, std::set<std::string>> tenants_;  // that have theirs, by pool
};

}  // namespace gpupool::controllers
