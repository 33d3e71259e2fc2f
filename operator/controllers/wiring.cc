#include "controllers/wiring.h"

#include <set>

#include "api/v1alpha1/names.h"
#include "controllers/sweeper/node_sweeper.h"
#include "planning/assess_workers.h"
#include "planning/job_status.h"
#include "planning/node_gpus.h"

namespace gpupool::controllers {
namespace {

using runtime::Change;
using runtime::Priority;

template <class K>
Priority priority_of(const Change<K>& change) {
  return change.initial ? Priority::kBackground : Priority::kLive;
}

// Those that pick the node, used or not.
void wake_pools_of(const api::Node& node, const Caches& caches, runtime::WorkQueue& pools,
                   Priority priority) {
  const auto placement = caches.placement.current()->place(node);
  if (placement.pool) pools.add(placement.pool->metadata.key(), priority);
  for (const auto& exclusion : placement.excluded) pools.add({"", exclusion.pool}, priority);
}

// What of a job matters to its pool's queue.
bool concerns_queue(const api::GpuJob& before, const api::GpuJob& after) {
  return before.metadata.generation != after.metadata.generation ||
         before.metadata.deleting() != after.metadata.deleting() ||
         before.status.lease != after.status.lease || before.status.phase != after.status.phase;
}

void on_job(const Change<api::GpuJob>& change, const Caches& caches, PoolQueue& pool_queue,
            const Queues& queues) {
  const auto& any = change.after ? *change.after : *change.before;
  if (change.before && (!change.after || change.after->metadata.uid != change.before->metadata.uid)) {
    pool_queue.departed(change.before->metadata.uid);
  }
  if (change.after) pool_queue.arrived(change.after->metadata.uid);
  queues.jobs.add(any.metadata.key(), priority_of(change));
  pool_queue.job_changed(any.metadata.key());
  if (change.before && change.after && !concerns_queue(*change.before, *change.after)) return;
  queues.pools.add({"", any.spec.pool}, priority_of(change));
  if (!change.before) return;
  if (change.before->spec.pool != any.spec.pool) queues.pools.add({"", change.before->spec.pool});
  const auto now = change.after ? nodes_of(*change.after) : std::vector<std::string>();
  const std::set<std::string> kept(now.begin(), now.end());
  for (const auto& node : nodes_of(*change.before)) {
    if (kept.contains(node)) continue;
    queues.nodes.add({"", node});
    queues.marks.add({"", node});
  }
  if (change.after) return;
  for (const auto& pod : caches.pods.store().by_index(kByJobUid, change.before->metadata.uid)) {
    queues.pods.add(pod->metadata.key());
  }
}

void wake_holder(const Caches& caches, runtime::WorkQueue& jobs, const api::Node& node, Priority priority) {
  for (const auto& job : caches.jobs.store().by_index(kByHeldNode, node.metadata.name)) {
    jobs.add(job->metadata.key(), priority);
  }
}

void on_node(const Change<api::Node>& change, const Caches& caches, PoolQueue& pool_queue,
             const Queues& queues) {
  const auto& any = change.after ? *change.after : *change.before;
  pool_queue.node_changed(any.metadata.name);
  for (const auto& node : {change.before, change.after}) {
    if (node != nullptr && concerns_pools(change))
      wake_pools_of(*node, caches, queues.pools, priority_of(change));
  }
  wake_holder(caches, queues.jobs, any, priority_of(change));
  const bool was_marked = change.before && marked(*change.before);
  if (was_marked || (change.after && marked(*change.after)))
    queues.nodes.add(any.metadata.key(), priority_of(change));
  if (change.after) queues.marks.add(any.metadata.key(), priority_of(change));
}

// What is on the node, or reported of it, has changed.
void wake_pool_of(const std::string& name, const Caches& caches, PoolQueue& pool_queue, const Queues& queues,
                  Priority priority) {
  pool_queue.node_changed(name);
  const auto node = caches.nodes.store().get({"", name});
  if (node != nullptr) wake_pools_of(*node, caches, queues.pools, priority);
}

void on_report(const Change<api::GpuNode>& change, const Caches& caches, PoolQueue& pool_queue,
               const Queues& queues) {
  const auto& key = (change.after ? change.after : change.before)->metadata.key();
  pool_queue.reported(key.name, change.after.get());
  wake_pool_of(key.name, caches, pool_queue, queues, priority_of(change));
  queues.marks.add(key, priority_of(change));
}

// Only what changes who has slices of a node.
void on_sharing_pod(const Change<api::Pod>& change, const Caches& caches, PoolQueue& pool_queue,
                    const Queues& queues) {
  const auto& any = change.after ? *change.after : *change.before;
  if (slices_of(any) == 0) return;
  const auto holds = [](const std::shared_ptr<const api::Pod>& pod) {
    return pod != nullptr && !pod->spec.node_name.empty() && !planning::has_ended(*pod);
  };
  if (!change.after) pool_queue.pod_gone(any);
  const bool same = holds(change.before) == holds(change.after);
  if (same && change.after) return;
  wake_pool_of(any.spec.node_name, caches, pool_queue, queues, priority_of(change));
  if (!same && !holds(change.after)) queues.marks.add({"", any.spec.node_name});
}

// Only the beginning and the end of one; a node that carries nothing of it any more is free from its end on.
void on_exclusive_pod(const Change<api::Pod>& change, const Caches& caches, PoolQueue& pool_queue,
                      const Queues& queues) {
  const auto runs = [](const std::shared_ptr<const api::Pod>& pod) {
    return pod != nullptr && !pod->spec.node_name.empty() && slices_of(*pod) == 0 &&
           !planning::has_ended(*pod);
  };
  if (runs(change.before) == runs(change.after)) return;
  const auto& name = (change.after ? change.after : change.before)->spec.node_name;
  pool_queue.node_changed(name);
  const auto node = caches.nodes.store().get({"", name});
  if (node == nullptr || marked(*node) || runs(change.after)) return;
  wake_pools_of(*node, caches, queues.pools, priority_of(change));
}

// A pod that comes to a node which another one's job holds.
void on_stranger(const Change<api::Pod>& change, const Caches& caches, ForeignPods& foreign,
                 const Queues& queues) {
  if (!change.after || change.after->spec.node_name.empty()) return;
  const auto& pod = *change.after;
  if (change.before && change.before->metadata.uid == pod.metadata.uid &&
      !change.before->spec.node_name.empty())
    return;
  const auto node = caches.newest_nodes.get({"", pod.spec.node_name});
  if (node == nullptr || !marked(*node)) return;
  const auto lease = api::parse_lease_value(planning::lease_taint(*node));
  const auto job = caches.job_of(pod);
  if (lease && job != nullptr && lease->job_uid == job->metadata.uid) return;
  foreign.came(change.after);
  queues.nodes.add(node->metadata.key());
}

void watch_strangers(Caches& caches, ForeignPods& foreign, const Queues& queues) {
  const auto stranger = [&caches, &foreign, queues](const Change<api::Pod>& change) {
    on_stranger(change, caches, foreign, queues);
  };
  caches.pods.on_change(stranger);
  caches.newcomers.on_change(stranger);
  caches.newcomers.on_list([&caches, &foreign, queues] {  // some may have come, and run by now
    foreign.doubt();
    for (const auto& node : caches.nodes.store().list()) {
      if (marked(*node)) queues.nodes.add(node->metadata.key(), Priority::kBackground);
    }
  });
}

// A child belongs to the job that controls it.
template <class K>
auto on_child(runtime::WorkQueue& jobs) {
  return [&jobs](const Change<K>& change) {
    const auto& metadata = change.after ? change.after->metadata : change.before->metadata;
    const auto job = metadata.label(api::kJobNameLabel);
    if (!job.empty()) jobs.add({metadata.ns, job}, priority_of(change));
  };
}

}  // namespace

void connect(Caches& caches, PoolQueue& pool_queue, NodeReadiness& readiness, ForeignPods& foreign,
             Queues queues) {
  watch_strangers(caches, foreign, queues);
  caches.newest_jobs.on_write([&pool_queue](const api::ObjectKey& job) { pool_queue.job_changed(job); });
  caches.newest_nodes.on_write(
      [&pool_queue](const api::ObjectKey& node) { pool_queue.node_changed(node.name); });
  caches.jobs.on_list([&pool_queue] { pool_queue.everything_changed(); });
  caches.nodes.on_list([&pool_queue] { pool_queue.everything_changed(); });
  caches.jobs.on_change([&caches, &pool_queue, queues](const Change<api::GpuJob>& change) {
    on_job(change, caches, pool_queue, queues);
  });
  caches.nodes.on_change([&caches, &pool_queue, &readiness, queues](const Change<api::Node>& change) {
    if (change.after) {
      readiness.not_ready_for(*change.after);  // the count begins here
    } else {
      readiness.forget(change.before->metadata.name);
    }
    on_node(change, caches, pool_queue, queues);
  });
  caches.pools.on_change([&caches, &pool_queue, queues](const Change<api::GpuPool>& change) {
    if (!concerns_others(change)) return;
    const auto& any = change.after ? *change.after : *change.before;
    pool_queue.everything_changed();
    for (const auto& pool : caches.pools.store().list())
      queues.pools.add(pool->metadata.key(), priority_of(change));
    for (const auto& node : caches.nodes.store().list()) queues.marks.add(node->metadata.key());
    for (const auto& job : caches.jobs.store().list()) {
      if (job->spec.pool == any.metadata.name) queues.jobs.add(job->metadata.key(), Priority::kBackground);
    }
  });
  caches.gpu_nodes.on_change([&caches, &pool_queue, queues](const Change<api::GpuNode>& change) {
    on_report(change, caches, pool_queue, queues);
  });
  caches.pods.on_change([&caches, &pool_queue, queues](const Change<api::Pod>& change) {
    on_sharing_pod(change, caches, pool_queue, queues);
  });
  caches.pods.on_change([&caches, &pool_queue, queues](const Change<api::Pod>& change) {
    on_exclusive_pod(change, caches, pool_queue, queues);
  });
  caches.pods.on_change(on_child<api::Pod>(queues.jobs));
  caches.pods.on_change([&caches, queues](const Change<api::Pod>& change) {
    if (!change.after) return;
    const auto uid = change.after->metadata.label(api::kJobUidLabel);
    if (caches.jobs.store().by_index(kByUid, uid).empty()) {
      queues.pods.add_after(change.after->metadata.key(), std::chrono::seconds(1));
    }
  });
  caches.stateful_sets.on_change(on_child<api::StatefulSet>(queues.jobs));
  caches.batch_jobs.on_change(on_child<api::BatchJob>(queues.jobs));
  caches.services.on_change(on_child<api::Service>(queues.jobs));
}

}  // namespace gpupool::controllers
