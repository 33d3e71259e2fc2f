// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/reference_victims.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpupool::bench::fair {
namespace {

constexpr int kMaxDoublings = 5;
constexpr Seconds kStop = 120;              // what a stop and a start cost
constexpr Seconds kLongestInterval = 3600;  // that an owner may claim

class Search {
 public:
  Search(const Cluster& cluster, const Leases& leases, const Settings& settings, const Claim& claim)
      : cluster_(cluster), leases_(leases), settings_(settings), claim_(claim) {}

  std::vector<JobId> victims() const {
    for (const bool with_checkpoint : {true, false}) {
      if (!with_checkpoint && claim_.rule == YieldRule::kToShare) break;
      const auto candidates = find(with_checkpoint);
      auto chosen = single(candidates);
      if (chosen.empty()) chosen = several(candidates);
      if (!chosen.empty() && legal(chosen)) return chosen;
    }
    return {};
  }

 private:
  std::int64_t gpus(JobId id) const { return cluster_.job(id).gpus; }
  const Tenant& tenant_of(JobId id) const { return cluster_.workload().tenants[cluster_.job(id).tenant]; }

  bool may(JobId id, bool with_checkpoint) const {
    const auto& job = cluster_.job(id);
    if (!job.preemptible || leases_.covered(id)) return false;
    if (job.tenant == cluster_.job(claim_.id).tenant) return false;
    if (with_checkpoint && job.checkpoint == 0) return false;
    if (guard_end(cluster_, settings_, id, claim_.rule) > cluster_.now()) return false;
    return claim_.rule == YieldRule::kToShare || cluster_.held(job.tenant) > tenant_of(id).guaranteed;
  }
  std::vector<JobId> find(bool with_checkpoint) const {
    std::vector<JobId> found;
    for (const auto id : cluster_.running()) {
      if (may(id, with_checkpoint)) found.push_back(id);
    }
    return found;
  }

  // GPU-seconds that are lost if the job yields, as far as its owner's declarations tell.
  std::int64_t cost_of_gpu(JobId id) const {
    const auto elapsed = cluster_.now() - cluster_.state(id).since;
    const auto interval = cluster_.job(id).checkpoint;
    return kStop + (interval > 0 ? std::min({elapsed, interval, kLongestInterval}) : elapsed);
  }

  std::vector<JobId> single(const std::vector<JobId>& candidates) const {
    std::vector<JobId> best;
    for (const auto id : candidates) {
      if (gpus(id) < claim_.missing) continue;
      if (best.empty() || cost_of_gpu(id) * gpus(id) < cost_of_gpu(best[0]) * gpus(best[0])) best = {id};
    }
    return best;
  }

  // tenant's key descending, then cost of a GPU, then the younger lease
  std::vector<JobId> several(std::vector<JobId> candidates) const {
    std::map<JobId, std::tuple<std::int64_t, std::int64_t, Seconds>> rank;
    for (const auto id : candidates) {
      rank[id] = {-leases_.key(cluster_, cluster_.job(id).tenant) / tenant_of(id).weight, cost_of_gpu(id),
                  -cluster_.state(id).since};
    }
    std::ranges::stable_sort(candidates, {}, [&](JobId id) { return rank.at(id); });
    std::vector<JobId> chosen;
    std::int64_t freed = 0;
    for (const auto id : candidates) {
      if (freed >= claim_.missing) break;
      chosen.push_back(id);
      freed += gpus(id);
    }
    if (freed < claim_.missing) return {};
    for (auto i = chosen.size(); i-- > 0;) {
      if (freed - gpus(chosen[i]) < claim_.missing) continue;
      freed -= gpus(chosen[i]);
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return chosen;
  }

  // toGuarantee asks nothing of the set that may() has not asked of each.
  bool legal(const std::vector<JobId>& chosen) const {
    if (claim_.rule == YieldRule::kToGuarantee) return true;
    std::map<std::size_t, std::int64_t> lost;  // GPUs, by tenant
    for (const auto id : chosen) lost[cluster_.job(id).tenant] += gpus(id);
    const auto& job = cluster_.job(claim_.id);
    const auto& weights = cluster_.workload().tenants;
    const auto after = leases_.key(cluster_, job.tenant, job.gpus);
    return std::ranges::all_of(lost, [&](const auto& each) {
      const auto left = leases_.key(cluster_, each.first, -each.second);
      return after / 100 * (100 + settings_.margin_percent) * weights[each.first].weight <=
             left * weights[job.tenant].weight;
    });
  }

  const Cluster& cluster_;
  const Leases& leases_;
  const Settings& settings_;
  const Claim& claim_;
};

}  // namespace

Seconds guard_end(const Cluster& cluster, const Settings& settings, JobId id, YieldRule rule) {
  const auto least = rule == YieldRule::kToShare ? settings.share_min_run : settings.min_run;
  return cluster.works_from(id) + (least << std::min(cluster.state(id).yields, kMaxDoublings));
}

std::vector<JobId> reference_victims(const Cluster& cluster, const Leases& leases, const Settings& settings,
                                     const Claim& claim) {
  return Search(cluster, leases, settings, claim).victims();
}

}  // namespace gpupool::bench::fair
