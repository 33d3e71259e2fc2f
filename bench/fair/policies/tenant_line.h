// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "bench/fair/engine/cluster.h"

namespace gpupool::bench::fair {

// The waiting jobs of one tenant. Those of one group get one answer in a pass.
class TenantLine {
 public:
  struct Group {
    Seconds bound = 0;  // its class
    std::int64_t gpus = 0;
    auto operator<=>(const Group&) const = default;
  };
  using Groups = std::map<Group, std::set<JobId>>;  // jobs in order of arrival

  static Group group_of(const Cluster& cluster, JobId id);

  void put(const Cluster& cluster, JobId id) { groups_[group_of(cluster, id)].insert(id); }
  void remove(const Cluster& cluster, JobId id);

  // The head of a group with the greatest response ratio, (wait + 60) / (bound + 60), without groups that are
  // refused and without `other`. assumed: bound of jobs that have none.
  std::optional<JobId> candidate(const Cluster& cluster, const std::set<Group>& refused,
                                 std::optional<JobId> other, Seconds assumed) const;

 private:
  Groups groups_;
};

}  // namespace gpupool::bench::fair
