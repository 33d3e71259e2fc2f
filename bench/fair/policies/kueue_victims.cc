// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/kueue_victims.h"

#include <optional>

namespace gpupool::bench::fair {
namespace {

// One search, in the steps of pkg/scheduler/preemption: the first strategy takes from the queue with the
// largest share while the claimant's share does not exceed that queue's after the loss; the second asks only
// that it is below that queue's share before; then as many victims as possible are spared.
class Search {
 public:
  Search(const Cluster& cluster, JobId claimant)
      : cluster_(cluster), claimant_(cluster.job(claimant)), free_(cluster.free()) {
    const auto tenants = cluster.workload().tenants.size();
    candidates_.resize(tenants);
    retried_.resize(tenants);
    for (std::size_t i = 0; i < tenants; ++i) held_.push_back(cluster.held(i));
    for (const auto id : cluster.running()) {
      const auto& job = cluster.job(id);
      if (job.preemptible && job.tenant != claimant_.tenant) candidates_[job.tenant].push_back(id);
    }
    for (auto& jobs : candidates_) {  // the most recent start last
      std::ranges::stable_sort(jobs, {}, [&](JobId id) { return cluster.state(id).since; });
    }
  }

  std::vector<JobId> victims() {
    if (!first_strategy() && !second_strategy()) return {};
    spare();
    return victims_;
  }

 private:
  std::int64_t share(std::size_t tenant) const { return borrowed(cluster_, tenant, held_[tenant]); }
  std::int64_t claimant_share() const {
    return borrowed(cluster_, claimant_.tenant, held_[claimant_.tenant] + claimant_.gpus);
  }
  bool enough() const { return claimant_.gpus <= free_; }

  // Of those with candidates that borrow; the one with the largest share.
  std::optional<std::size_t> largest(const std::vector<std::vector<JobId>>& candidates) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].empty() || share(i) == 0) continue;
      if (!found || share(i) > share(*found)) found = i;
    }
    return found;
  }

  void take(JobId id) {
    victims_.push_back(id);
    held_[cluster_.job(id).tenant] -= cluster_.job(id).gpus;
    free_ += cluster_.job(id).gpus;
  }

  bool first_strategy() {
    while (const auto tenant = largest(candidates_)) {
      auto& jobs = candidates_[*tenant];
      const auto id = jobs.back();
      jobs.pop_back();
      const auto after = borrowed(cluster_, *tenant, held_[*tenant] - cluster_.job(id).gpus);
      if (claimant_share() > after) {
        retried_[*tenant].push_back(id);
        continue;
      }
      take(id);
      if (enough()) return true;
    }
    return false;
  }

  bool second_strategy() {
    while (const auto tenant = largest(retried_)) {
      if (claimant_share() < share(*tenant)) {
        take(retried_[*tenant].front());
        if (enough()) return true;
      }
      retried_[*tenant].clear();  // one of each queue
    }
    return false;
  }

  void spare() {
    for (auto i = victims_.size(); i-- > 0;) {
      const auto gpus = cluster_.job(victims_[i]).gpus;
      if (free_ - gpus < claimant_.gpus) continue;
      free_ -= gpus;
      victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const Cluster& cluster_;
  const Job& claimant_;
  std::int64_t free_;
  std::vector<std::int64_t> held_;
  std::vector<std::vector<JobId>> candidates_;  // by tenant, the next at the end
  std::vector<std::vector<JobId>> retried_;     // by tenant, the next first
  std::vector<JobId> victims_;
};

}  // namespace

std::vector<JobId> kueue_victims(const Cluster& cluster, JobId claimant) {
  return Search(cluster, claimant).victims();
}

}  // namespace gpupool::bench::fair
