// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/slurm_like.h"

#include <algorithm>
#include <numeric>

#include "bench/fair/policies/backfill.h"

namespace gpupool::bench::fair {
namespace {

constexpr Seconds kInterval = 30;       // bf_interval
constexpr std::size_t kExamined = 100;  // bf_max_job_test

}  // namespace

SlurmLike::SlurmLike(const Workload& workload, const Settings& settings)
    : ledger_(workload.tenants.size(), settings.half_life) {}

void SlurmLike::arrived(JobId) { changed_ = true; }

void SlurmLike::ended(JobId) { changed_ = true; }

std::vector<JobId> SlurmLike::in_order(const Cluster& cluster) const {
  const auto& tenants = cluster.workload().tenants;
  std::vector<std::vector<JobId>> jobs(tenants.size());
  for (const auto id : cluster.waiting()) jobs[cluster.job(id).tenant].push_back(id);
  std::vector<std::size_t> order(tenants.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return ledger_.usage(a) * tenants[b].weight < ledger_.usage(b) * tenants[a].weight;
  });
  std::vector<JobId> all;
  all.reserve(cluster.waiting().size());
  for (const auto tenant : order) all.insert(all.end(), jobs[tenant].begin(), jobs[tenant].end());
  return all;
}

void SlurmLike::backfill(Actions& actions, const std::vector<JobId>& order, std::size_t first_blocked) {
  const auto& cluster = actions.cluster();
  const auto needed = cluster.job(order[first_blocked]).gpus;
  auto kept = reserve(cluster, needed);
  const auto end = std::min(order.size(), first_blocked + kExamined);
  for (auto i = first_blocked + 1; i < end && cluster.free() > 0; ++i) {
    const auto gpus = cluster.job(order[i]).gpus;
    if (gpus > cluster.free() || !kept.lets(cluster, gpus, cluster.bound_left(order[i]), 0)) continue;
    actions.start(order[i]);
    kept = reserve(cluster, needed);
  }
}

void SlurmLike::decide(Actions& actions) {
  const auto& cluster = actions.cluster();
  ledger_.advance(cluster.now());
  if (cluster.free() > 0 && !cluster.waiting().empty()) {
    const auto order = in_order(cluster);
    std::size_t next = 0;
    for (; next < order.size() && cluster.job(order[next]).gpus <= cluster.free(); ++next)
      actions.start(order[next]);
    if (cluster.now() >= next_backfill_ && next < order.size()) backfill(actions, order, next);
  }
  if (cluster.now() >= next_backfill_) {
    next_backfill_ = kNever;
    changed_ = false;
  }
  if (changed_ && next_backfill_ == kNever) next_backfill_ = (cluster.now() / kInterval + 1) * kInterval;
  for (std::size_t i = 0; i < cluster.workload().tenants.size(); ++i)
    ledger_.set_rate(i, cluster.held(i) * kMilli);
}

}  // namespace gpupool::bench::fair
