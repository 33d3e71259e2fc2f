// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweeper/pod_sweeper_controller.h"

#include "api/v1alpha1/names.h"

namespace gpupool::controllers {

using runtime::Change;

PodSweeperController::PodSweeperController(const Setup& setup)
    : caches_(setup.caches),
      reconciler_(setup.client, setup.caches, setup.clock),
      controller_({"pod-sweeper", "Pod", 1, std::chrono::seconds(30)}, reconciler_, setup.clock,
                  setup.metrics, setup.log) {
  caches_.jobs.on_change([this](const Change<api::GpuJob>& change) {
    if (change.after) return;
    for (const auto& pod : caches_.pods.store().by_index(kByJobUid, change.before->metadata.uid))
      controller_.queue().add(pod->metadata.key());
  });
  caches_.pods.on_change([this](const Change<api::Pod>& change) {
    if (!change.after) return;
    const auto uid = change.after->metadata.label(api::kJobUidLabel);
    // Delayed, because the watch may show the pod before its job.
    if (caches_.jobs.store().by_index(kByUid, uid).empty())
      controller_.queue().add_after(change.after->metadata.key(), std::chrono::seconds(1));
  });
  setup.manager.add_controller(controller_);
}

}  // namespace gpupool::controllers
