// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweep/controller.h"

#include <utility>

#include "controllers/cluster/changes.h"

namespace gpupool::controllers {
namespace {

// True if the change of a trial's job can matter to its sweep. The phases between its creation and its end do
// not.
bool concerns_sweep(const runtime::Change<api::GpuJob>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = *change.before;
  const auto& after = *change.after;
  const auto is_invalid = [](const api::GpuJob& job) { return job.status.phase == api::phase::kInvalid; };
  return before.metadata.uid != after.metadata.uid || before.finished() != after.finished() ||
         is_invalid(before) != is_invalid(after) || before.spec.suspend != after.spec.suspend;
}

}  // namespace

GpuSweepController::GpuSweepController(const Setup& setup, AskWorkers ask)
    : metrics_(setup.metrics),
      reconciler_(setup.client, setup.caches, setup.events, metrics_, std::move(ask), setup.clock),
      controller_({"gpusweep", "GpuSweep", 1, std::chrono::seconds(30)}, reconciler_, setup.clock,
                  setup.metrics, setup.log) {
  setup.caches.sweeps.on_change([this](const runtime::Change<api::GpuSweep>& change) {
    controller_.queue().add((change.after ? change.after : change.before)->metadata.key(),
                            priority_of(change));
  });
  setup.caches.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) { on_job(change); });
  setup.manager.add_controller(controller_);
}

void GpuSweepController::on_job(const runtime::Change<api::GpuJob>& change) {
  if (!concerns_sweep(change)) return;
  for (const auto& job : {change.before, change.after}) {
    if (job == nullptr) continue;
    for (const auto& owner : job->metadata.owner_references) {
      if (owner.controller && owner.kind == api::GpuSweep::kType.kind)
        controller_.queue().add({job->metadata.ns, owner.name}, priority_of(change));
    }
  }
}

}  // namespace gpupool::controllers
