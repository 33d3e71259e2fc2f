// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpupool/controller.h"

#include <utility>

#include "controllers/cluster/changes.h"
#include "planning/nodes/lease_marks.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {

using runtime::Change;
using runtime::Priority;

GpuPoolController::GpuPoolController(const Setup& setup, PoolQueue& pool_queue,
                                     planning::RunTimes::Source history)
    : caches_(setup.caches),
      reconciler_(setup.client, pool_queue, setup.clock, setup.metrics, std::move(history),
                  [&caches = setup.caches] { return caches.jobs.store().list(); }),
      controller_({"gpupool", "GpuPool", 1, std::chrono::seconds(30)}, reconciler_, setup.clock,
                  setup.metrics, setup.log) {
  caches_.jobs.on_change([this](const Change<api::GpuJob>& change) { on_job(change); });
  caches_.nodes.on_change([this](const Change<api::Node>& change) { on_node(change); });
  caches_.pools.on_change([this](const Change<api::GpuPool>& change) { on_pool(change); });
  caches_.gpu_nodes.on_change([this](const Change<api::GpuNode>& change) {
    if (!concerns_pools(change)) return;
    const auto& name = (change.after ? change.after : change.before)->metadata.name;
    if (const auto node = caches_.nodes.store().get({"", name})) wake_pools_of(*node, priority_of(change));
  });
  caches_.foreign_pods.on_change([this](const std::string& name) {
    if (const auto node = caches_.nodes.store().get({"", name})) wake_pools_of(*node, Priority::kLive);
  });
  caches_.pods.on_change([this](const Change<api::Pod>& change) { on_pod(change); });
  setup.manager.add_controller(controller_);
}

void GpuPoolController::wake_pools_of(const api::Node& node, Priority priority) {
  const auto membership = caches_.membership.get()->of(node);
  if (membership.pool) controller_.queue().add(membership.pool->metadata.key(), priority);
  for (const auto& exclusion : membership.excluded) controller_.queue().add({"", exclusion.pool}, priority);
}

void GpuPoolController::on_job(const Change<api::GpuJob>& change) {
  if (!concerns_queue(change)) return;
  const auto& pool = (change.after ? change.after : change.before)->spec.pool;
  controller_.queue().add({"", pool}, priority_of(change));
  if (change.before && change.before->spec.pool != pool)
    controller_.queue().add({"", change.before->spec.pool});
}

void GpuPoolController::on_node(const Change<api::Node>& change) {
  if (!concerns_pools(change)) return;
  for (const auto& node : {change.before, change.after}) {
    if (node != nullptr) wake_pools_of(*node, priority_of(change));
  }
}

// All pools, because the pool of a node depends on all of them.
void GpuPoolController::on_pool(const Change<api::GpuPool>& change) {
  if (changes_prices(change)) controller_.queue().add(change.after->metadata.key(), priority_of(change));
  if (!concerns_others(change)) return;
  for (const auto& pool : caches_.pools.store().list())
    controller_.queue().add(pool->metadata.key(), priority_of(change));
}

// Reacts only when a worker begins or ends. In an exclusive pool the change of the node's marks wakes the
// pool; an unmarked node becomes free when its last worker ends.
void GpuPoolController::on_pod(const Change<api::Pod>& change) {
  const auto& any = change.after ? *change.after : *change.before;
  const bool begins_or_ends = occupies_node(change.before) != occupies_node(change.after);
  const bool shares = planning::slices_of(any) > 0;
  if (!begins_or_ends && (change.after || !shares)) return;
  const auto node = caches_.nodes.store().get({"", any.spec.node_name});
  if (node == nullptr) return;
  if (!shares && (planning::has_lease_marks(*node) || occupies_node(change.after))) return;
  wake_pools_of(*node, priority_of(change));
}

}  // namespace gpupool::controllers
