// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpupool/pool_metrics.h"

#include <charconv>
#include <chrono>
#include <cstdint>

namespace gpupool::controllers {
namespace {

// Of the tenants that the pool does not name.
constexpr char kOthers[] = "(others)";

// Reads what planning::amount_text() wrote.
double gpus_in(const std::string& amount) {
  std::int64_t number = 0;
  const auto* end = amount.data() + amount.size();
  const auto read = std::from_chars(amount.data(), end, number);
  constexpr double kMilli = 1000;
  return static_cast<double>(number) / (read.ptr != end && *read.ptr == 'm' ? kMilli : 1);
}

}  // namespace

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

void PoolMetrics::set_tenant(const std::string& pool, const std::string& tenant, double queued, double held,
                             double average, double guaranteed) {
  const base::Labels labels{{"pool", pool}, {"tenant", tenant}};
  metrics_.gauge("gpupool_tenant_queued_jobs", "Jobs of the tenant that wait", labels).set(queued);
  metrics_.gauge("gpupool_tenant_held_gpus", "GPUs that the tenant holds, as spec.queue.rates counts", labels)
      .set(held);
  metrics_.gauge("gpupool_tenant_average_gpus", "GPUs that the tenant held in the recent past", labels)
      .set(average);
  metrics_.gauge("gpupool_tenant_guaranteed_gpus", "GPUs that the tenant is guaranteed", labels)
      .set(guaranteed);
  tenants_[pool].insert(tenant);
}

void PoolMetrics::on_queue(const std::string& name, const api::GpuPool* pool, const api::QueueStatus* queue) {
  const bool known = tenants_.contains(name);
  if (queue == nullptr && !known) return;
  auto gone = tenants_[name];
  if (pool != nullptr && queue != nullptr && pool->spec.queue) {
    std::map<std::string, double> guaranteed;
    for (const auto& tenant : pool->spec.queue->tenants)
      guaranteed.emplace(tenant.name, static_cast<double>(tenant.guaranteed));
    std::int64_t queued = 0;
    double held = 0;
    double average = 0;
    for (const auto& tenant : queue->tenants) {
      const auto named = guaranteed.find(tenant.name);
      if (named != guaranteed.end()) {
        set_tenant(name, tenant.name, static_cast<double>(tenant.queued), gpus_in(tenant.held),
                   gpus_in(tenant.average_held), named->second);
        gone.erase(tenant.name);
        continue;
      }
      queued += tenant.queued;
      held += gpus_in(tenant.held);
      average += gpus_in(tenant.average_held);
    }
    set_tenant(name, kOthers, static_cast<double>(queued), held, average, 0);
    gone.erase(kOthers);
  }
  for (const auto& tenant : gone) set_tenant(name, tenant, 0, 0, 0, 0);
}

}  // namespace gpupool::controllers
