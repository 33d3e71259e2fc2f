#pragma once

#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/names.h"
#include "controllers/cluster/newest.h"
#include "controllers/cluster/pool_placement.h"
#include "planning/worker_identity.h"
#include "runtime/cache/informer.h"

namespace gpupool::controllers {

inline constexpr char kByJobUid[] = "job-uid";
inline constexpr char kByUid[] = "uid";
inline constexpr char kByNode[] = "node";
inline constexpr char kByHeldNode[] = "held-node";

// Names of the nodes that a job's lease has or has lost.
inline std::vector<std::string> nodes_of(const api::GpuJob& job) {
  std::vector<std::string> names;
  if (!job.status.lease) return names;
  for (const auto& node : job.status.lease->nodes) names.push_back(node.name);
  for (const auto& node : job.status.lease->lost) names.push_back(node.name);
  return names;
}

// Everything the controllers watch, made once in main. Children are watched by label, so that other workloads
// cost next to nothing.
struct Caches {
  Caches(kube::Client& client, base::Clock& clock, base::Metrics& metrics, const base::Log& log)
      : pools(client, {}, clock, metrics, log),
        jobs(client, {}, clock, metrics, log),
        nodes(client, {}, clock, metrics, log),
        gpu_nodes(client, {}, clock, metrics, log),
        pods(client, workers(), clock, metrics, log),
        newcomers(client, others(), clock, metrics, log),
        stateful_sets(client, workers(), clock, metrics, log),
        batch_jobs(client, workers(), clock, metrics, log),
        services(client, workers(), clock, metrics, log),
        newest_jobs(jobs.store()),
        newest_nodes(nodes.store()) {
    pods.store().add_index(kByJobUid, [](const api::Pod& pod) {
      return planning::maker_of(pod) != nullptr ? std::vector{pod.metadata.label(api::kJobUidLabel)}
                                                : std::vector<std::string>();
    });
    index_by_job(stateful_sets.store());
    index_by_job(batch_jobs.store());
    index_by_job(services.store());
    pods.store().add_index(kByNode, [](const api::Pod& pod) { return std::vector{pod.spec.node_name}; });
    pools.on_change([this](const runtime::Change<api::GpuPool>& change) {
      if (concerns_others(change)) placement.update(pools.store().list());
    });
    jobs.on_list([this] { newest_jobs.forget_all(); });
    nodes.on_list([this] { newest_nodes.forget_all(); });
    jobs.store().add_index(kByUid, [](const api::GpuJob& job) { return std::vector{job.metadata.uid}; });
    jobs.store().add_index(kByHeldNode, nodes_of);
  }

  runtime::Informer<api::GpuPool> pools;
  runtime::Informer<api::GpuJob> jobs;
  runtime::Informer<api::Node> nodes;
  runtime::Informer<api::GpuNode> gpu_nodes;
  runtime::Informer<api::Pod> pods;
  runtime::Informer<api::Pod> newcomers;  // pods of others that have a node and do not run yet
  runtime::Informer<api::StatefulSet> stateful_sets;
  runtime::Informer<api::BatchJob> batch_jobs;
  runtime::Informer<api::Service> services;
  Newest<api::GpuJob> newest_jobs;
  Newest<api::Node> newest_nodes;
  PoolPlacement placement;

  // What the node's device plugin reports; null if there is nothing, or only of an earlier node of this name.
  std::shared_ptr<const api::GpuNode> report_of(const api::Node& node) const {
    auto report = gpu_nodes.store().get({"", node.metadata.name});
    if (report == nullptr) return nullptr;
    for (const auto& owner : report->metadata.owner_references) {
      if (owner.kind == api::Node::kType.kind && owner.uid != node.metadata.uid) return nullptr;
    }
    return report;
  }

  // The job whose worker the pod is (planning::is_worker); null if it is none of a living job.
  std::shared_ptr<const api::GpuJob> job_of(const api::Pod& pod) const {
    auto job = newest_jobs.get({pod.metadata.ns, pod.metadata.label(api::kJobNameLabel)});
    return job != nullptr && is_worker(pod, *job) ? job : nullptr;
  }
  // All workers of the job.
  std::vector<std::shared_ptr<const api::Pod>> workers_of(const api::GpuJob& job) const {
    auto found = pods.store().by_index(kByJobUid, job.metadata.uid);
    std::erase_if(found, [&](const auto& pod) { return !is_worker(*pod, job); });
    return found;
  }

 private:
  bool is_worker(const api::Pod& pod, const api::GpuJob& job) const {
    const auto* const maker = planning::maker_of(pod);
    if (maker == nullptr) return false;
    const api::ObjectKey key{pod.metadata.ns, maker->name};
    if (maker->kind == api::BatchJob::kType.kind) {
      const auto found = batch_jobs.store().get(key);
      return planning::is_worker(pod, job, found == nullptr ? nullptr : &found->metadata);
    }
    const auto found = stateful_sets.store().get(key);
    return planning::is_worker(pod, job, found == nullptr ? nullptr : &found->metadata);
  }
  static runtime::ReflectorOptions workers() {
    runtime::ReflectorOptions options;
    options.label_selector = api::kJobUidLabel;
    return options;
  }
  // Every pod is pending when it comes to its node, and few are at any time.
  static runtime::ReflectorOptions others() {
    runtime::ReflectorOptions options;
    options.label_selector = std::string("!") + api::kJobUidLabel;
    options.field_selector = "spec.nodeName!=,status.phase=Pending";
    return options;
  }
  template <class K>
  static void index_by_job(runtime::Store<K>& store) {
    store.add_index(kByJobUid,
                    [](const K& object) { return std::vector{object.metadata.label(api::kJobUidLabel)}; });
  }
};

}  // namespace gpupool::controllers
