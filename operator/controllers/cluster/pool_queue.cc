#include "controllers/cluster/pool_queue.h"

#include <algorithm>
#include <limits>
#include <set>

#include "api/v1alpha1/reasons.h"
#include "planning/assess_workers.h"
#include "planning/job_status.h"
#include "planning/job_validation.h"
#include "planning/plan_slices.h"
#include "planning/pool_status.h"

namespace gpupool::controllers {
namespace {

namespace reason = api::reason;

bool waits(const api::GpuJob& job, const api::GpuPool& pool) {
  if (planning::holds_nodes(job.status) || job.metadata.deleting() || job.spec.suspend) return false;
  if (job.status.phase == api::phase::kSucceeded || job.status.phase == api::phase::kFailed) return false;
  return !planning::validate_job(job, &pool);
}

// Why nobody gets nodes of this pool; nothing if it works.
std::optional<planning::Verdict> closed(const api::GpuPool& pool) {
  const auto& name = pool.metadata.name;
  if (pool.metadata.deleting()) {
    return planning::Verdict{{}, reason::kPoolStopping, "pool " + name + " is being deleted"};
  }
  if (auto problem = planning::validate_pool(pool)) {
    return planning::Verdict{{}, reason::kPoolStalled, "pool " + name + ": " + problem->message};
  }
  // Whoever deletes the pool now would take it from under a job that runs.
  if (!pool.metadata.has_finalizer(api::kPoolFinalizer)) {
    return planning::Verdict{{}, reason::kWaitingForNodes, "pool " + name + " is being set up"};
  }
  return std::nullopt;
}

bool has_workers(const Caches& caches, const std::string& node) {
  const auto pods = caches.pods.store().by_index(kByNode, node);
  return std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return !planning::has_ended(*pod); });
}

}  // namespace

std::set<std::string> PoolQueue::leased_locked(bool as_a_whole) const {
  std::set<std::string> leased;
  for (const auto& [key, grant] : granted_) {
    if (as_a_whole && grant.slices > 0) continue;
    for (const auto& node : grant.nodes) leased.insert(node.name);
  }
  for (const auto& job : caches_.newest_jobs.list()) {
    if (!job->status.lease || (as_a_whole && job->status.lease->shared())) continue;
    for (const auto& node : job->status.lease->nodes) leased.insert(node.name);
    for (const auto& node : job->status.lease->lost) leased.insert(node.name);
  }
  return leased;
}

PoolView PoolQueue::view_locked(const std::shared_ptr<const api::GpuPool>& pool) {
  PoolView view;
  view.pool = pool;
  for (const auto& job : caches_.newest_jobs.list()) {
    if (job->spec.pool != pool->metadata.name) continue;
    if (planning::holds_nodes(job->status)) view.holding.push_back(job->metadata.key().to_string());
    if (!granted_.contains(job->metadata.key()) && waits(*job, *pool)) view.queue.push_back(job);
  }
  std::stable_sort(view.queue.begin(), view.queue.end(), [this](const auto& a, const auto& b) {
    return arrival_locked(a->metadata.uid) < arrival_locked(b->metadata.uid);
  });
  view.members = planning::assign_members(caches_.pools.store().list(),
                                          caches_.newest_nodes.list())[pool->metadata.name];
  const bool shares = pool->spec.sharing.has_value();
  const auto leased = leased_locked(shares);
  auto occupants =
      shares ? slices_.occupants(view.members.nodes, granted_) : std::map<std::string, planning::Occupants>();
  for (const auto& node : view.members.nodes) {
    const bool held = leased.contains(node->metadata.name);
    if (shares) {
      const auto report = caches_.report_of(*node);
      view.shared.push_back(
          planning::describe_shared_node(*node, report.get(), *pool, occupants[node->metadata.name]));
      if (held) view.shared.back().node.leased = true;
    } else {
      view.nodes.push_back(planning::describe_node(*node, pool->spec.gpus.resource_name));
      // A machine that was made again under its name carries no taint, and may still run what it did.
      if (held || has_workers(caches_, node->metadata.name)) view.nodes.back().leased = true;
    }
  }
  return view;
}

// A job that is in the cache already and has yet to be announced came after all others.
std::uint64_t PoolQueue::arrival_locked(const std::string& job_uid) const {
  const auto found = arrivals_.find(job_uid);
  return found == arrivals_.end() ? std::numeric_limits<std::uint64_t>::max() : found->second;
}

const PoolQueue::Verdicts& PoolQueue::plan_locked(const std::shared_ptr<const api::GpuPool>& pool) {
  const auto found = planned_.find(pool->metadata.name);
  if (found != planned_.end()) return found->second;
  auto view = view_locked(pool);
  Verdicts verdicts;
  if (const auto shut = closed(*pool)) {
    for (const auto& job : view.queue) verdicts[job->metadata.key()] = *shut;
  } else if (pool->spec.sharing) {
    verdicts = planning::plan_slices(*pool, std::move(view.shared), view.queue);
  } else {
    verdicts = planning::plan_queue(*pool, view.nodes, view.queue);
  }
  return planned_[pool->metadata.name] = std::move(verdicts);
}

planning::Verdict PoolQueue::verdict(const api::GpuJob& job) {
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  if (pool == nullptr) return {{}, reason::kPoolNotFound, "there is no GpuPool " + job.spec.pool};
  const std::lock_guard lock(mutex_);
  granted_.erase(job.metadata.key());
  auto found = plan_locked(pool).find(job.metadata.key());
  if (found == plan_locked(pool).end()) {  // the plan is older than the job
    planned_.erase(job.spec.pool);
    found = plan_locked(pool).find(job.metadata.key());
    if (found == plan_locked(pool).end()) return {{}, reason::kWaitingForNodes, "waiting for its turn"};
  }
  if (!found->second.nodes.empty()) granted_[job.metadata.key()] = found->second;
  return found->second;
}

std::vector<api::NodeRef> PoolQueue::replace(const api::GpuJob& job, const std::vector<std::string>& kept) {
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  if (pool == nullptr || pool->spec.sharing || closed(*pool)) return {};
  const std::lock_guard lock(mutex_);
  granted_.erase(job.metadata.key());
  auto known = view_locked(pool).nodes;
  for (const auto& name : kept) {  // one that has left the pool stays the job's until it ends
    const auto same = [&](const planning::PoolNode& node) { return node.name == name; };
    const auto node = caches_.newest_nodes.get({"", name});
    if (node != nullptr && std::none_of(known.begin(), known.end(), same))
      known.push_back(planning::describe_node(*node, pool->spec.gpus.resource_name));
  }
  auto nodes = planning::replace_nodes(*pool, known, job, kept);
  if (!nodes.empty()) granted_[job.metadata.key()] = {nodes, "", ""};
  planned_.erase(job.spec.pool);
  return nodes;
}

void PoolQueue::settle(const api::ObjectKey& job) {
  const std::lock_guard lock(mutex_);
  granted_.erase(job);
}

void PoolQueue::invalidate() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
}

void PoolQueue::arrived(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  arrivals_.emplace(job_uid, ++last_arrival_);
}

void PoolQueue::departed(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  arrivals_.erase(job_uid);
}

std::vector<api::ObjectKey> PoolQueue::changed_jobs(const std::string& pool) {
  const auto found = caches_.pools.store().get({"", pool});
  std::vector<api::ObjectKey> changed;
  if (found == nullptr) return changed;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, verdict] : plan_locked(found)) {
    const auto job = caches_.newest_jobs.get(key);
    if (job == nullptr) continue;
    const bool same = job->status.reason == verdict.reason && job->status.message == verdict.message;
    if (!verdict.nodes.empty() || !same) changed.push_back(key);
  }
  return changed;
}

std::optional<PoolView> PoolQueue::view(const std::string& pool) {
  const auto found = caches_.pools.store().get({"", pool});
  if (found == nullptr) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return view_locked(found);
}

}  // namespace gpupool::controllers
