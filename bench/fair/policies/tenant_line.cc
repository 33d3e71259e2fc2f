// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/tenant_line.h"

#include "bench/fair/policies/bound_class.h"

namespace gpupool::bench::fair {
namespace {

constexpr Seconds kOffset = 60;

}  // namespace

TenantLine::Group TenantLine::group_of(const Cluster& cluster, JobId id) {
  return {bound_class(cluster.bound_left(id)), cluster.job(id).gpus};
}

void TenantLine::remove(const Cluster& cluster, JobId id) {
  const auto group = groups_.find(group_of(cluster, id));
  group->second.erase(id);
  if (group->second.empty()) groups_.erase(group);
}

std::optional<JobId> TenantLine::candidate(const Cluster& cluster, const std::set<Group>& refused,
                                           std::optional<JobId> other, Seconds assumed) const {
  std::optional<JobId> best;
  Seconds best_wait = 0;
  Seconds best_bound = 1;
  for (const auto& [group, jobs] : groups_) {
    if (refused.contains(group)) continue;
    auto head = jobs.begin();
    if (other && *head == *other) ++head;
    if (head == jobs.end()) continue;
    const auto wait = cluster.now() - cluster.job(*head).arrival + kOffset;
    const auto bound = (group.bound == kNever ? assumed : group.bound) + kOffset;
    const auto mine = wait * best_bound;
    const auto its = best_wait * bound;
    if (best && (mine < its || (mine == its && *head > *best))) continue;
    best = *head;
    best_wait = wait;
    best_bound = bound;
  }
  return best;
}

}  // namespace gpupool::bench::fair
