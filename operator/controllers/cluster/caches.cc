// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/caches.h"

#include "api/v1alpha1/names.h"
#include "controllers/cluster/changes.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::runtime {
template class Store<api::GpuPool>;
template class Informer<api::GpuPool>;
template class Store<api::GpuJob>;
template class Informer<api::GpuJob>;
template class ReadYourWrites<api::GpuJob>;
template class Store<api::GpuSweep>;
template class Informer<api::GpuSweep>;
template class ReadYourWrites<api::GpuSweep>;
template class Store<api::Node>;
template class Informer<api::Node>;
template class ReadYourWrites<api::Node>;
template class Store<api::GpuNode>;
template class Informer<api::GpuNode>;
template class Store<api::Pod>;
template class Informer<api::Pod>;
template class ReadYourWrites<api::Pod>;
template class Store<api::StatefulSet>;
template class Informer<api::StatefulSet>;
template class ReadYourWrites<api::StatefulSet>;
template class Store<api::BatchJob>;
template class Informer<api::BatchJob>;
template class ReadYourWrites<api::BatchJob>;
template class Store<api::Service>;
template class Informer<api::Service>;
template class ReadYourWrites<api::Service>;
}  // namespace gpupool::runtime

namespace gpupool::controllers {
namespace {

runtime::ReflectorOptions workers() {
  runtime::ReflectorOptions options;
  options.label_selector = api::kJobUidLabel;
  return options;
}

// A Job that has succeeded creates no more pods. It stays in the cluster for the logs of its pod, and leaves
// this cache, so that the cache does not grow with what has ended.
runtime::ReflectorOptions jobs_at_work() {
  auto options = workers();
  options.field_selector = "status.successful=0";
  return options;
}

template <class K>
void index_by_job(runtime::Store<K>& store) {
  store.add_index(kByJobUid,
                  [](const K& object) { return std::vector{object.metadata.label(api::kJobUidLabel)}; });
}

std::vector<std::string> sweep_uids(const api::GpuJob& job) {
  for (const auto& owner : job.metadata.owner_references) {
    if (owner.controller && owner.kind == api::GpuSweep::kType.kind) return {owner.uid};
  }
  return {};
}

}  // namespace

std::vector<std::string> nodes_of(const api::GpuJob& job) {
  std::vector<std::string> names;
  if (!job.status.lease) return names;
  for (const auto& node : job.status.lease->nodes) names.push_back(node.name);
  for (const auto& node : job.status.lease->lost) names.push_back(node.name);
  return names;
}

Caches::Caches(kube::Client& client, base::Clock& clock, base::Metrics& metrics, const base::Log& log)
    : pools(client, {}, clock, metrics, log),
      jobs(client, {}, clock, metrics, log),
      sweeps(client, {}, clock, metrics, log),
      nodes(client, {}, clock, metrics, log),
      gpu_nodes(client, {}, clock, metrics, log),
      pods(client, workers(), clock, metrics, log),
      foreign_pods(client, clock, metrics, log),
      stateful_sets(client, workers(), clock, metrics, log),
      batch_jobs(client, jobs_at_work(), clock, metrics, log),
      services(client, workers(), clock, metrics, log),
      newest_jobs(jobs),
      newest_sweeps(sweeps),
      newest_nodes(nodes),
      newest_pods(pods),
      newest_stateful_sets(stateful_sets),
      newest_batch_jobs(batch_jobs),
      newest_services(services) {
  pods.store().add_index(kByJobUid, [](const api::Pod& pod) {
    return planning::maker_of(pod) != nullptr ? std::vector{pod.metadata.label(api::kJobUidLabel)}
                                              : std::vector<std::string>();
  });
  index_by_job(stateful_sets.store());
  index_by_job(batch_jobs.store());
  index_by_job(services.store());
  pods.store().add_index(kByNode, [](const api::Pod& pod) { return std::vector{pod.spec.node_name}; });
  pools.on_change([this](const runtime::Change<api::GpuPool>& change) {
    if (concerns_others(change)) membership.set(planning::Membership(pools.store().list()));
  });
  jobs.store().add_index(kByUid, [](const api::GpuJob& job) { return std::vector{job.metadata.uid}; });
  jobs.store().add_index(kByHeldNode, nodes_of);
  jobs.store().add_index(kBySweepUid, sweep_uids);
}

void Caches::add_to(runtime::Manager& manager) {
  const auto add = [&](auto& informer) {
    manager.add_cache(informer.reflector(), [&informer] { return informer.synced(); });
  };
  add(pools);
  add(jobs);
  manager.add_cache(sweeps.reflector(), [] { return true; });  // nothing waits for it
  add(nodes);
  add(gpu_nodes);
  add(pods);
  add(foreign_pods);
  add(stateful_sets);
  add(batch_jobs);
  add(services);
}

std::shared_ptr<const api::GpuNode> Caches::report_of(const api::Node& node) const {
  auto report = gpu_nodes.store().get({"", node.metadata.name});
  if (report == nullptr) return nullptr;
  for (const auto& owner : report->metadata.owner_references) {
    if (owner.kind == api::Node::kType.kind && owner.uid != node.metadata.uid) return nullptr;
  }
  return report;
}

std::shared_ptr<const api::GpuJob> Caches::job_of(const api::Pod& pod) const {
  auto job = newest_jobs.get({pod.metadata.ns, pod.metadata.label(api::kJobNameLabel)});
  return job != nullptr && is_worker(pod, *job) ? job : nullptr;
}

std::vector<std::shared_ptr<const api::Pod>> Caches::workers_of(const api::GpuJob& job) const {
  auto found = newest_pods.by_index(kByJobUid, job.metadata.uid);
  std::erase_if(found, [&](const auto& pod) { return !is_worker(*pod, job); });
  return found;
}

std::vector<std::shared_ptr<const api::Pod>> Caches::watched_workers_of(const api::GpuJob& job) const {
  auto found = pods.store().by_index(kByJobUid, job.metadata.uid);
  std::erase_if(found, [&](const auto& pod) { return !is_worker(*pod, job); });
  return found;
}

bool Caches::is_worker(const api::Pod& pod, const api::GpuJob& job) const {
  const auto* const maker = planning::maker_of(pod);
  if (maker == nullptr) return false;
  const api::ObjectKey key{pod.metadata.ns, maker->name};
  if (maker->kind == api::BatchJob::kType.kind) {
    const auto found = newest_batch_jobs.get(key);
    return planning::is_worker(pod, job, found == nullptr ? nullptr : &found->metadata);
  }
  const auto found = newest_stateful_sets.get(key);
  return planning::is_worker(pod, job, found == nullptr ? nullptr : &found->metadata);
}

}  // namespace gpupool::controllers
