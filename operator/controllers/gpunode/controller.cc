// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpunode/controller.h"

#include "controllers/cluster/changes.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {

using runtime::Change;

NodeMarkerController::NodeMarkerController(const Setup& setup)
    : caches_(setup.caches),
      reconciler_(setup.client, setup.caches),
      controller_({"node-marker", "Node", 1, std::chrono::seconds(30)}, reconciler_, setup.clock,
                  setup.metrics, setup.log) {
  caches_.jobs.on_change([this](const Change<api::GpuJob>& change) {
    for (const auto& node : released_nodes(change)) controller_.queue().add({"", node});
  });
  caches_.nodes.on_change([this](const Change<api::Node>& change) {
    if (change.after) controller_.queue().add(change.after->metadata.key(), priority_of(change));
  });
  caches_.pools.on_change([this](const Change<api::GpuPool>& change) {
    if (!concerns_others(change)) return;
    for (const auto& node : caches_.nodes.store().list()) controller_.queue().add(node->metadata.key());
  });
  caches_.gpu_nodes.on_change([this](const Change<api::GpuNode>& change) {
    if (!concerns_pools(change)) return;
    controller_.queue().add((change.after ? change.after : change.before)->metadata.key(),
                            priority_of(change));
  });
  caches_.pods.on_change([this](const Change<api::Pod>& change) { on_pod(change); });
  setup.manager.add_controller(controller_);
}

// The marks of a sharing pool stay on a node while its workers run there.
void NodeMarkerController::on_pod(const Change<api::Pod>& change) {
  const auto& any = change.after ? *change.after : *change.before;
  if (planning::slices_of(any) > 0 && occupies_node(change.before) && !occupies_node(change.after))
    controller_.queue().add({"", any.spec.node_name});
}

}  // namespace gpupool::controllers
