// SPDX-License-Identifier: Apache-2.0
// What the caches tell the queue: each handler only takes a note, which work_in_changes() reads later.
#include <functional>
#include <limits>

#include "controllers/cluster/changes.h"
#include "controllers/queue/pool_queue.h"

namespace gpupool::controllers {
namespace {

std::size_t hash_of(const std::string& uid) { return std::hash<std::string>()(uid); }

}  // namespace

PoolQueue::PoolQueue(Caches& caches, const base::Clock& clock)
    : caches_(caches), clock_(clock), slices_(caches) {
  caches.newest_jobs.on_write([this](const api::ObjectKey& job) { job_changed(job); });
  caches.newest_nodes.on_write([this](const api::ObjectKey& node) { node_changed(node.name); });
  caches.jobs.on_list([this] { everything_changed(); });
  caches.nodes.on_list([this] { everything_changed(); });
  caches.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) { on_job(change); });
  caches.nodes.on_change([this](const runtime::Change<api::Node>& change) {
    node_changed((change.after ? change.after : change.before)->metadata.name);
  });
  caches.pools.on_change([this](const runtime::Change<api::GpuPool>& change) {
    if (concerns_others(change) || changes_prices(change)) everything_changed();
  });
  caches.gpu_nodes.on_change([this](const runtime::Change<api::GpuNode>& change) { on_report(change); });
  caches.pods.on_change([this](const runtime::Change<api::Pod>& change) { on_pod(change); });
  caches.foreign_pods.on_change([this](const std::string& node) { node_changed(node); });
}

void PoolQueue::on_job(const runtime::Change<api::GpuJob>& change) {
  const auto& any = change.after ? *change.after : *change.before;
  const base::MutexLock lock(changes_mutex_);
  if (change.before && (!change.after || change.after->metadata.uid != change.before->metadata.uid))
    arrivals_.erase(hash_of(change.before->metadata.uid));
  if (change.after && arrivals_.emplace(hash_of(change.after->metadata.uid), last_arrival_ + 1).second)
    ++last_arrival_;
  changes_.jobs.insert(any.metadata.key());
}

// A job that is in the cache but was not announced by the watch yet gets the highest number.
std::uint64_t PoolQueue::arrival_of(const std::string& job_uid) const {
  const base::MutexLock lock(changes_mutex_);
  const auto found = arrivals_.find(hash_of(job_uid));
  return found == arrivals_.end() ? std::numeric_limits<std::uint64_t>::max() : found->second;
}

void PoolQueue::on_report(const runtime::Change<api::GpuNode>& change) {
  const auto& name = (change.after ? change.after : change.before)->metadata.name;
  slices_.on_report(name, change.after.get());
  if (concerns_pools(change)) node_changed(name);
}

void PoolQueue::on_pod(const runtime::Change<api::Pod>& change) {
  const auto& any = change.after ? *change.after : *change.before;
  if (!change.after) slices_.on_pod_gone(any);
  if (!change.after || occupies_node(change.before) != occupies_node(change.after))
    node_changed(any.spec.node_name);
}

void PoolQueue::job_changed(const api::ObjectKey& job) {
  const base::MutexLock lock(changes_mutex_);
  changes_.jobs.insert(job);
}

void PoolQueue::node_changed(const std::string& node) {
  const base::MutexLock lock(changes_mutex_);
  changes_.nodes.insert(node);
}

void PoolQueue::everything_changed() {
  const base::MutexLock lock(changes_mutex_);
  changes_.everything = true;
}

}  // namespace gpupool::controllers
