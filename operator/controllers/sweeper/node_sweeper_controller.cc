// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweeper/node_sweeper_controller.h"

#include "controllers/cluster/changes.h"
#include "planning/nodes/lease_marks.h"

namespace gpupool::controllers {

using runtime::Change;

NodeSweeperController::NodeSweeperController(const Setup& setup)
    : caches_(setup.caches),
      foreign_(setup.caches, setup.events, setup.metrics),
      reconciler_(setup.client, setup.caches, foreign_, setup.clock),
      controller_({"node-sweeper", "Node", 1, std::chrono::seconds(5)}, reconciler_, setup.clock,
                  setup.metrics, setup.log) {
  caches_.pods.on_change([this](const Change<api::Pod>& change) { on_pod(change); });
  caches_.foreign_pods.on_change([this](const std::string& name) {
    const auto node = caches_.newest_nodes.get({"", name});
    if (node != nullptr && planning::has_lease_marks(*node)) controller_.queue().add(node->metadata.key());
  });
  caches_.jobs.on_change([this](const Change<api::GpuJob>& change) {
    for (const auto& node : released_nodes(change)) controller_.queue().add({"", node});
  });
  caches_.nodes.on_change([this](const Change<api::Node>& change) {
    for (const auto& node : {change.before, change.after}) {
      if (node != nullptr && planning::has_lease_marks(*node))
        controller_.queue().add(node->metadata.key(), priority_of(change));
    }
  });
  setup.manager.add_controller(controller_);
}

// Handles a pod that was bound to a node which another job holds.
void NodeSweeperController::on_pod(const Change<api::Pod>& change) {
  if (!change.after || change.after->spec.node_name.empty()) return;
  const auto& pod = *change.after;
  const bool was_there = change.before && change.before->metadata.uid == pod.metadata.uid &&
                         !change.before->spec.node_name.empty();
  if (was_there) return;
  const auto node = caches_.newest_nodes.get({"", pod.spec.node_name});
  if (node == nullptr || !planning::has_lease_marks(*node)) return;
  const auto lease = api::parse_lease_value(planning::lease_taint(*node));
  const auto job = caches_.job_of(pod);
  if (lease && job != nullptr && lease->job_uid == job->metadata.uid) return;
  controller_.queue().add(node->metadata.key());
}

}  // namespace gpupool::controllers
