// SPDX-License-Identifier: Apache-2.0
#include "planning/job/save_results.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::planning {
namespace {

// gpupool-carry ends by itself at timeoutSeconds. This is for one that does not, or never started.
constexpr base::Duration kSlack = std::chrono::seconds(30);

base::Duration longest_timeout(const base::json::RawJson& results) {
  base::Duration longest = base::Duration::zero();
  const auto parsed = base::json::read<std::vector<api::JobResult>>(results.text);
  if (!parsed) return longest;
  for (const auto& result : *parsed)
    longest = std::max<base::Duration>(longest, std::chrono::seconds(result.timeout_seconds));
  return longest;
}

}  // namespace

std::int64_t count_of_workers(const Observation& seen) {
  const auto begun = seen.job.status.workers.total;
  return begun > 0 ? begun : api::worker_count(seen.job.spec);
}

WorkerViews views_of_workers(const Observation& seen) {
  const auto& spec = seen.job.spec;
  auto views =
      assess_workers(seen.pods, seen.job.status.lease->id, count_of_workers(seen), seen.worker_container);
  if (!spec.results) return views;
  const auto limit = longest_timeout(*spec.results) + kSlack;
  for (auto& view : views) {
    const bool ended = view.state == WorkerState::kSucceeded || view.state == WorkerState::kCrashed;
    if (!view.saves_results || !ended || !view.finished_at) continue;
    // The clock of the node may be ahead.
    const auto left = std::min(*view.finished_at, seen.now) + limit - seen.now;
    if (left <= base::Duration::zero()) continue;
    view.state = WorkerState::kRunning;
    view.message = "saves its results";
    view.saved_within = std::chrono::duration_cast<base::Duration>(left);
  }
  return views;
}

std::optional<base::Duration> until_saved(const WorkerViews& views) {
  std::optional<base::Duration> left;
  for (const auto& view : views) {
    if (view.saved_within) left = left ? std::min(*left, *view.saved_within) : *view.saved_within;
  }
  return left;
}

}  // namespace gpupool::planning
