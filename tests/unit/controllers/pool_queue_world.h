// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/names.h"
#include "controllers/queue/pool_queue.h"
#include "planning/job/job_status.h"
#include "tests/unit/controllers/server_and_caches.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

// Caches that the test writes, and a queue that gets each change.
class PoolQueueWorld : ServerAndCaches {
 public:
  PoolQueueWorld() {
    queue_.on_notify([this](const api::ObjectKey& job) { notified_.push_back(job); });
    put(make_pool("lab"));
  }

  void put(api::GpuPool pool) {
    pool.metadata.finalizers = {api::kPoolFinalizer};
    caches_.pools.apply(std::move(pool));
  }
  void put(api::Node node) { caches_.nodes.apply(std::move(node)); }
  void remove_node(const std::string& name) { caches_.nodes.remove({"", name}); }
  void put(api::GpuNode report) { caches_.gpu_nodes.apply(std::move(report)); }
  void put(api::Pod pod) { caches_.pods.apply(std::move(pod)); }
  void remove_pod(const api::Pod& pod) {
    // What no report can show is not remembered (SliceOccupancy).
    if (caches_.gpu_nodes.store().get({"", pod.spec.node_name}) != nullptr) gone_.push_back(pod);
    caches_.pods.remove(pod.metadata.key());
  }
  void put(api::StatefulSet set) { caches_.stateful_sets.apply(std::move(set)); }
  void put(const api::ForeignPod& pod) {
    foreign_.insert_or_assign(pod.metadata.uid, pod);
    caches_.foreign_pods.apply(pod);
  }
  void remove(const api::ForeignPod& pod) {
    foreign_.erase(pod.metadata.uid);
    caches_.foreign_pods.remove(pod);
  }
  void put(api::GpuJob job) { caches_.jobs.apply(next_version(std::move(job))); }
  // The queue does not get this change yet: the reflector's thread is between cache and handler.
  void put_untold(api::GpuJob job) {
    runtime::StoreWriter<api::GpuJob>(caches_.jobs.store()).apply(next_version(std::move(job)));
  }
  void remove_job(const std::string& name) { caches_.jobs.remove({"ns", name}); }

  // Returns the queue's answer to the job, which keeps its grant until end().
  planning::Verdict ask(const api::GpuJob& job) {
    auto ticket = queue_.ask(job);
    auto verdict = ticket.verdict();
    const auto key = job.metadata.key();
    if (const auto before = tickets_.find(key); before != tickets_.end()) before->second.discard();
    tickets_.erase(key);
    tickets_.emplace(key, std::move(ticket));
    return verdict;
  }
  planning::Verdict ask(const std::string& name) { return ask(*job(name)); }
  void end(const std::string& name) { tickets_.erase({"ns", name}); }
  // The job does not take what it was given.
  void discard(const api::GpuJob& job) { tickets_.erase(job.metadata.key()); }

  // Like a reconcile: writes the grant into the status before the ticket ends.
  planning::Verdict take(const std::string& name) {
    auto verdict = ask(name);
    if (!verdict.nodes.empty()) put(taking(name, verdict));
    end(name);
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

  // Returns the jobs that the queue wakes now.
  std::vector<api::ObjectKey> notify() {
    queue_.notify("lab");
    return std::exchange(notified_, {});
  }

  // A new queue with its own caches.
  struct Fresh : ServerAndCaches {
    explicit Fresh(const PoolQueueWorld& world) {
      for (const auto& pool : world.caches_.pools.store().list()) put(caches_.pools, *pool);
      for (const auto& node : world.caches_.nodes.store().list()) put(caches_.nodes, *node);
      auto jobs = world.jobs();
      std::ranges::sort(jobs, {}, [&](const auto& job) { return world.arrivals_.at(job->metadata.uid); });
      for (const auto& job : jobs) put(caches_.jobs, *job);
      put_reports(world);
      for (const auto& pod : world.gone_) put(caches_.pods, pod);
      for (const auto& pod : world.gone_) caches_.pods.remove(pod.metadata.key());
      for (const auto& pod : world.pods()) put(caches_.pods, *pod);
      for (const auto& [uid, pod] : world.foreign_) caches_.foreign_pods.apply(pod);
      put_reports(world);
    }
    void put_reports(const PoolQueueWorld& world) {
      for (const auto& report : world.caches_.gpu_nodes.store().list()) put(caches_.gpu_nodes, *report);
    }
    controllers::PoolQueue queue{caches_, clock_};
  };

  std::shared_ptr<const api::GpuJob> job(const std::string& name) const {
    return caches_.jobs.store().get({"ns", name});
  }
  std::vector<std::shared_ptr<const api::GpuJob>> jobs() const { return caches_.jobs.store().list(); }
  std::vector<std::shared_ptr<const api::Pod>> pods() const { return caches_.pods.store().list(); }
  // Names of jobs that wait for nodes, and of jobs that hold some.
  std::vector<std::string> waiting() const {
    return names_of([](const api::GpuJob& job) { return !job.status.lease && job.status.phase.empty(); });
  }
  std::vector<std::string> holding() const {
    return names_of([](const api::GpuJob& job) { return planning::holds_nodes(job.status); });
  }
  controllers::PoolQueue& queue() { return queue_; }
  ManualClock& clock() { return clock_; }

 private:
  template <class Which>
  std::vector<std::string> names_of(const Which& which) const {
    std::vector<std::string> names;
    for (const auto& job : jobs()) {
      if (which(*job)) names.push_back(job->metadata.name);
    }
    return names;
  }

  api::GpuJob next_version(api::GpuJob job) {
    job.metadata.resource_version = std::to_string(++version_);
    arrivals_.emplace(job.metadata.uid, arrivals_.size());
    return job;
  }

  controllers::PoolQueue queue_{caches_, clock_};
  std::map<api::ObjectKey, controllers::Ticket> tickets_;
  std::vector<api::ObjectKey> notified_;
  std::vector<api::Pod> gone_;
  std::map<std::string, api::ForeignPod> foreign_;  // by UID
  std::map<std::string, std::size_t> arrivals_;     // by UID
  int version_ = 0;
};

// Asserts that the queue gives the same answers as one that reads everything again. Some of the waiting jobs
// ask and take their grants. nodes: the field of the view that this kind of pool has.
template <class Nodes>
void assert_as_begun_anew(PoolQueueWorld& world, const std::vector<std::string>& waiting,
                          Nodes controllers::PoolView::* nodes) {
  for (const auto& name : waiting) {
    if (world.job(name) == nullptr || *rc::gen::inRange(0, 2) == 0) continue;
    const auto expected = PoolQueueWorld::Fresh(world).queue.ask(*world.job(name)).verdict();
    RC_ASSERT(world.take(name) == expected);
  }
  const auto seen = world.queue().view("lab");
  const auto expected = PoolQueueWorld::Fresh(world).queue.view("lab");
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
