// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/explainer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "planning/forecast/explain.h"
#include "planning/job/job_validation.h"

namespace gpupool::controllers {
namespace {

constexpr auto kLongestForecast = std::chrono::milliseconds(50);
constexpr std::size_t kMostOtherPools = 8;  // that are looked at

}  // namespace

void Explainer::on_job(const runtime::Change<api::GpuJob>& change) {
  if (!change.after || !change.after->finished()) return;
  const bool known =
      change.before && change.before->finished() && change.before->metadata.uid == change.after->metadata.uid;
  if (known) return;
  const base::MutexLock lock(mutex_);
  run_times_.add(*change.after);
}

planning::RunTimes::ByKind Explainer::history() {
  const base::MutexLock lock(mutex_);
  return run_times_.by_kind();
}

std::vector<planning::QueueSnapshot> Explainer::others(const api::GpuJob& job) {
  std::vector<planning::QueueSnapshot> found;
  if (!job.spec.nodes.empty()) return found;
  for (const auto& pool : caches_.pools.store().list()) {
    if (found.size() == kMostOtherPools) break;
    if (pool->metadata.name == job.spec.pool) continue;
    auto moved = job;
    moved.spec.pool = pool->metadata.name;
    if (planning::validate_job(moved, pool.get(), *caches_.template_fields.get())) continue;
    if (auto seen = queue_.snapshot(job, pool->metadata.name)) found.push_back(*std::move(seen));
  }
  return found;
}

api::Explanation Explainer::explain(const api::GpuJob& job) {
  std::optional<planning::QueueSnapshot> queue;
  std::vector<planning::QueueSnapshot> other_pools;
  planning::RunTimes::ByKind run_times;
  if (planning::is_explained_by_queue(job)) queue = queue_.snapshot(job, job.spec.pool);
  if (queue && !queue->granted) {
    other_pools = others(job);
    run_times = history();
  }
  const auto end = clock_.now() + kLongestForecast;
  planning::Budget budget([&] { return clock_.now() > end; });
  return planning::explain({job, clock_.wall(), queue ? &*queue : nullptr, other_pools, run_times}, budget);
}

}  // namespace gpupool::controllers
