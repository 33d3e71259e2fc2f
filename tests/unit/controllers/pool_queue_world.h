#pragma once

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <vector>

#include "api/v1alpha1/names.h"
#include "controllers/cluster/pool_queue.h"
#include "planning/job_status.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

// Caches that a test writes itself, and a queue that is told of each change.
class PoolQueueWorld : ServerAndCaches {
 public:
  PoolQueueWorld() { put(make_pool("lab")); }

  void put(api::GpuPool pool) {
    pool.metadata.finalizers = {api::kPoolFinalizer};
    pools_.apply(std::move(pool));
    caches_.placement.update(caches_.pools.store().list());
    queue_.everything_changed();
  }
  void put(api::Node node) {
    const auto name = node.metadata.name;
    nodes_.apply(std::move(node));
    queue_.node_changed(name);
  }
  void remove_node(const std::string& name) {
    nodes_.remove({"", name});
    queue_.node_changed(name);
  }
  void put(api::GpuNode report) {
    const auto name = report.metadata.name;
    queue_.reported(name, &report);
    reports_.apply(std::move(report));
    queue_.node_changed(name);
  }
  void put(api::Pod pod) {
    const auto node = pod.spec.node_name;
    pods_.apply(std::move(pod));
    queue_.node_changed(node);
  }
  void remove_pod(const api::Pod& pod) {
    gone_.push_back(pod);
    pods_.remove(pod.metadata.key());
    queue_.pod_gone(pod);
    queue_.node_changed(pod.spec.node_name);
  }
  void put(api::GpuJob job) {
    const auto key = job.metadata.key();
    const auto uid = job.metadata.uid;
    put_untold(std::move(job));
    queue_.arrived(uid);
    queue_.job_changed(key);
  }
  // The queue has yet to be told: another thread is between the two.
  void put_untold(api::GpuJob job) {
    job.metadata.resource_version = std::to_string(++version_);
    if (caches_.jobs.store().get(job.metadata.key()) == nullptr) arrivals_.push_back(job.metadata.uid);
    jobs_.apply(std::move(job));
  }
  void remove_job(const std::string& name) {
    jobs_.remove({"ns", name});
    queue_.job_changed({"ns", name});
  }

  // As a reconcile does: what is granted is written before the grant ends.
  planning::Verdict take(const std::string& name) {
    auto verdict = queue_.verdict(*job(name));
    if (!verdict.nodes.empty()) put(taking(name, verdict));
    queue_.settle({"ns", name});
    return verdict;
  }
  api::GpuJob taking(const std::string& name, const planning::Verdict& verdict) const {
    auto job = *this->job(name);
    job.status.lease.emplace();
    job.status.lease->id = "uid." + std::to_string(version_);
    job.status.lease->state = api::lease_state::kTaking;
    job.status.lease->nodes = verdict.nodes;
    job.status.lease->slices = verdict.slices;
    return job;
  }
  void finish(const std::string& name) {
    auto job = *this->job(name);
    job.status.lease.reset();
    job.status.phase = api::phase::kSucceeded;
    put(std::move(job));
  }

  // What a queue that begins now has to say.
  std::unique_ptr<controllers::PoolQueue> begin_anew() const {
    auto fresh = std::make_unique<controllers::PoolQueue>(caches_);
    for (const auto& pod : gone_) fresh->pod_gone(pod);
    for (const auto& report : caches_.gpu_nodes.store().list()) {
      fresh->reported(report->metadata.name, report.get());
    }
    for (const auto& uid : arrivals_) fresh->arrived(uid);
    return fresh;
  }

  std::shared_ptr<const api::GpuJob> job(const std::string& name) const {
    return caches_.jobs.store().get({"ns", name});
  }
  std::vector<std::shared_ptr<const api::GpuJob>> jobs() const { return caches_.jobs.store().list(); }
  std::vector<std::shared_ptr<const api::Pod>> pods() const { return caches_.pods.store().list(); }
  // Names of jobs that want nodes and have none, and of those that hold some.
  std::vector<std::string> waiting() const {
    return names_of([](const api::GpuJob& job) { return !job.status.lease && job.status.phase.empty(); });
  }
  std::vector<std::string> holding() const {
    return names_of([](const api::GpuJob& job) { return planning::holds_nodes(job.status); });
  }
  controllers::PoolQueue& queue() { return queue_; }

 private:
  template <class Which>
  std::vector<std::string> names_of(const Which& which) const {
    std::vector<std::string> names;
    for (const auto& job : jobs()) {
      if (which(*job)) names.push_back(job->metadata.name);
    }
    return names;
  }

  runtime::StoreWriter<api::GpuPool> pools_{caches_.pools.store()};
  runtime::StoreWriter<api::GpuJob> jobs_{caches_.jobs.store()};
  runtime::StoreWriter<api::Node> nodes_{caches_.nodes.store()};
  runtime::StoreWriter<api::Pod> pods_{caches_.pods.store()};
  runtime::StoreWriter<api::GpuNode> reports_{caches_.gpu_nodes.store()};
  controllers::PoolQueue queue_{caches_};
  std::vector<api::Pod> gone_;
  std::vector<std::string> arrivals_;
  int version_ = 0;
};

// The queue says the same as one that has read everything anew. Some of the jobs that waited ask, and take
// what they are given. nodes: those of the view that the pool has.
template <class Nodes>
void assert_as_begun_anew(PoolQueueWorld& world, const std::vector<std::string>& waiting,
                          Nodes controllers::PoolView::* nodes) {
  for (const auto& name : waiting) {
    if (world.job(name) == nullptr || *rc::gen::inRange(0, 2) == 0) continue;
    const auto expected = world.begin_anew()->verdict(*world.job(name));
    RC_ASSERT(world.take(name) == expected);
  }
  const auto seen = world.queue().view("lab");
  const auto expected = world.begin_anew()->view("lab");
  const bool same_nodes = (*seen).*nodes == (*expected).*nodes;
  RC_ASSERT(same_nodes);
  RC_ASSERT(seen->waiting == expected->waiting);
  RC_ASSERT(seen->holding == expected->holding);
}

inline api::GpuJob make_queued_job(const std::string& name, std::int64_t gpus, std::int64_t age = 0) {
  auto job = make_job(name, gpus);
  job.metadata.uid = "uid-" + name;
  job.metadata.generation = 1;
  job.metadata.creation_timestamp = at(age);
  return job;
}

}  // namespace gpupool::test
