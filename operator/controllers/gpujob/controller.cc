// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/controller.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "controllers/cluster/changes.h"
#include "planning/job/job_status.h"

namespace gpupool::controllers {

using runtime::Change;

GpuJobController::GpuJobController(const Setup& setup, PoolQueue& pool_queue, const Options& options)
    : caches_(setup.caches),
      readiness_(setup.clock),
      metrics_(setup.metrics),
      explainer_(setup.caches, pool_queue, setup.clock),
      actions_(setup.client, setup.caches, pool_queue, explainer_, readiness_, metrics_, setup.events,
               setup.clock, options.workers, options.money),
      reconciler_(actions_, setup.clock),
      controller_({"gpujob", "GpuJob", options.threads, std::chrono::seconds(30)}, reconciler_, setup.clock,
                  setup.metrics, setup.log) {
  pool_queue.on_notify([this](const api::ObjectKey& job) { controller_.queue().add(job); });
  caches_.jobs.on_change([this](const Change<api::GpuJob>& change) { on_job(change); });
  caches_.nodes.on_change([this](const Change<api::Node>& change) { on_node(change); });
  caches_.gpu_nodes.on_change([this](const Change<api::GpuNode>& change) { on_report(change); });
  caches_.pools.on_change([this](const Change<api::GpuPool>& change) { on_pool(change); });
  caches_.pods.on_change([this](const Change<api::Pod>& change) {
    if (!change.after) reconciler_.forget_pod(change.before->metadata.uid);
  });
  watch_children(caches_.pods);
  watch_children(caches_.stateful_sets);
  watch_children(caches_.batch_jobs);
  watch_children(caches_.services);
  setup.manager.add_controller(controller_);
}

void GpuJobController::on_job(const Change<api::GpuJob>& change) {
  metrics_.on_change(change.before.get(), change.after.get());
  explainer_.on_job(change);
  if (change.before && (!change.after || change.after->metadata.uid != change.before->metadata.uid))
    reconciler_.forget_job(change.before->metadata.uid);
  controller_.queue().add((change.after ? change.after : change.before)->metadata.key(), priority_of(change));
  wake_neighbours(change);
}

// Only in pools with spec.queue. A written claim wakes the jobs that have to make room. A node that is given
// back wakes the job that waits for it.
void GpuJobController::wake_neighbours(const Change<api::GpuJob>& change) {
  const auto turn_of = [](const std::shared_ptr<const api::GpuJob>& job) {
    return job != nullptr && job->status.lease && job->status.lease->turn;
  };
  if (!changes_lease(change) || (!turn_of(change.before) && !turn_of(change.after))) return;
  const bool claims = change.after && planning::awaits_others(change.after->status);
  const auto& self = (change.after ? change.after : change.before)->metadata.key();
  for (const auto& node : claims ? nodes_of(*change.after) : released_nodes(change)) {
    for (const auto& job : caches_.jobs.store().by_index(kByHeldNode, node)) {
      if (job->metadata.key() != self && (claims || planning::awaits_others(job->status)))
        controller_.queue().add(job->metadata.key(), priority_of(change));
    }
  }
}

void GpuJobController::on_node(const Change<api::Node>& change) {
  if (change.after) {
    readiness_.not_ready_for(*change.after);  // starts the operator's own count of seconds
  } else {
    readiness_.forget(change.before->metadata.name);
  }
  const auto& name = (change.after ? change.after : change.before)->metadata.name;
  for (const auto& job : caches_.jobs.store().by_index(kByHeldNode, name))
    controller_.queue().add(job->metadata.key(), priority_of(change));
}

// A pod that the cache does not show yet wakes its job when it comes.
void GpuJobController::on_report(const Change<api::GpuNode>& change) {
  for (const auto& key : pods_in_excess(change)) {
    const auto pod = caches_.pods.store().get(key);
    if (pod == nullptr) continue;
    const auto job = pod->metadata.label(api::kJobNameLabel);
    if (!job.empty()) controller_.queue().add({key.ns, job}, priority_of(change));
  }
}

void GpuJobController::on_pool(const Change<api::GpuPool>& change) {
  if (!concerns_others(change)) return;
  const auto& name = (change.after ? change.after : change.before)->metadata.name;
  const bool lists_it = !change.before || !change.after;  // the message of a job without a pool
  for (const auto& job : caches_.jobs.store().list()) {
    const bool without = lists_it && job->status.reason == api::reason::kPoolNotFound;
    if (job->spec.pool == name || without)
      controller_.queue().add(job->metadata.key(), runtime::Priority::kBackground);
  }
}

// Maps a child to the job in its label. Whether it belongs to the job is checked when the job is reconciled.
template <class K>
void GpuJobController::watch_children(runtime::Informer<K>& informer) {
  informer.on_change([this](const Change<K>& change) {
    const auto& metadata = (change.after ? change.after : change.before)->metadata;
    const auto job = metadata.label(api::kJobNameLabel);
    if (!job.empty()) controller_.queue().add({metadata.ns, job}, priority_of(change));
  });
}

}  // namespace gpupool::controllers
