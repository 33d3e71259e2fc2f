// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/kueue_like.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "bench/fair/policies/kueue_victims.h"

namespace gpupool::bench::fair {
namespace {

constexpr Seconds kGrace = 30;  // terminationGracePeriodSeconds

}  // namespace

KueueLike::KueueLike(const Workload& workload) : queues_(workload.tenants.size()), jobs_(workload.jobs) {}

void KueueLike::arrived(JobId id) { queues_[jobs_[id].tenant].by_gpus[jobs_[id].gpus].insert(id); }

void KueueLike::remove(JobId id) {
  auto& sizes = queues_[jobs_[id].tenant].by_gpus;
  const auto found = sizes.find(jobs_[id].gpus);
  found->second.erase(id);
  if (found->second.empty()) sizes.erase(found);
}

// The oldest of each queue that is not known to be inadmissible; the one whose tenant borrows least with it
// comes first.
std::vector<JobId> KueueLike::heads(const Cluster& cluster) const {
  std::vector<std::tuple<std::int64_t, JobId>> found;
  for (std::size_t tenant = 0; tenant < queues_.size(); ++tenant) {
    const auto& queue = queues_[tenant];
    auto head = jobs_.size();
    for (const auto& [gpus, jobs] : queue.by_gpus) {
      if (!queue.inadmissible.contains(gpus)) head = std::min(head, *jobs.begin());
    }
    if (head < jobs_.size())
      found.emplace_back(borrowed(cluster, tenant, cluster.held(tenant) + jobs_[head].gpus), head);
  }
  std::ranges::sort(found);
  std::vector<JobId> ids;
  ids.reserve(found.size());
  for (const auto& [share, id] : found) ids.push_back(id);
  return ids;
}

bool KueueLike::admit(Actions& actions, JobId id) {
  const auto& cluster = actions.cluster();
  if (jobs_[id].gpus > cluster.free()) {
    const auto victims = kueue_victims(cluster, id);
    if (victims.empty()) return false;
    for (const auto victim : victims) {
      actions.yield(victim);
      ending_.emplace_back(cluster.now() + kGrace, victim);
    }
    for (auto& queue : queues_) queue.inadmissible.clear();
  }
  actions.start(id);
  remove(id);
  return true;
}

void KueueLike::decide(Actions& actions) {
  const auto& cluster = actions.cluster();
  std::erase_if(ending_, [&](const auto& each) {
    if (each.first > cluster.now()) return false;
    arrived(each.second);
    return true;
  });
  for (auto& queue : queues_) queue.inadmissible.clear();
  for (auto cycle = heads(cluster); !cycle.empty(); cycle = heads(cluster)) {
    for (const auto id : cycle) {
      if (!admit(actions, id)) queues_[jobs_[id].tenant].inadmissible.insert(jobs_[id].gpus);
    }
  }
}

Seconds KueueLike::wakes_at() const {
  Seconds first = kNever;
  for (const auto& [moment, id] : ending_) first = std::min(first, moment);
  return first;
}

}  // namespace gpupool::bench::fair
