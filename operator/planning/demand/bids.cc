// SPDX-License-Identifier: Apache-2.0
#include "planning/demand/bids.h"

#include <algorithm>
#include <optional>

#include "base/money.h"

namespace gpupool::planning {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

bool waits(const api::GpuJob& job) {
  return !job.status.lease && !job.status.completion_time && !job.spec.suspend && !job.metadata.deleting();
}

// How long it has held nodes, or will; nothing: it asks for none.
std::optional<seconds> length_of(const api::GpuJob& job, Estimates& estimates, base::WallTime now) {
  const auto& status = job.status;
  if (status.completion_time && !status.start_time) return std::nullopt;
  if (status.completion_time) return duration_cast<seconds>(*status.completion_time - *status.start_time);
  if (!status.lease && !waits(job)) return std::nullopt;
  const auto likely = estimates.likely_hold(job, Guess::kMedian).value_or(kUnknownLength);
  const auto until_now = status.start_time ? now - *status.start_time : base::WallTime::duration::zero();
  return std::max(duration_cast<seconds>(likely), duration_cast<seconds>(until_now));
}

// How many units of the pool it holds at once.
std::int64_t units_of(const api::GpuPool& pool, const api::GpuJob& job) {
  if (!pool.spec.sharing) return api::worker_count(job.spec);
  if (pool.spec.rents_gpus()) return job.spec.gpus;
  const auto& lease = job.status.lease;
  if (lease && lease->slices > 0) return api::worker_count(job.spec) * lease->slices;
  return api::worker_count(job.spec) * (job.spec.slice ? job.spec.slice->count.value_or(1) : 1);
}

}  // namespace

std::vector<Bid> bids_of(const api::GpuPool& pool,
                         const std::vector<std::shared_ptr<const api::GpuJob>>& jobs, Estimates& estimates,
                         base::WallTime now) {
  std::vector<Bid> bids;
  for (const auto& job : jobs) {
    const auto& spec = job->spec;
    if (spec.pool != pool.metadata.name || !spec.max_price_per_gpu_hour) continue;
    const auto highest = base::parse_micros(*spec.max_price_per_gpu_hour);
    const auto came = job->metadata.creation_timestamp.value_or(now);
    if (!highest || (came + kBidWindow < now && !waits(*job))) continue;
    const auto length = length_of(*job, estimates, now);
    if (!length) continue;
    constexpr std::uint64_t kAnybody = 0;  // there is one price for all
    bids.push_back({kAnybody, *highest, length->count() * units_of(pool, *job)});
  }
  return bids;
}

std::int64_t capacity_of(const api::GpuPool& pool, const api::GpuPoolStatus& counts) {
  auto units = counts.nodes.ready;
  if (pool.spec.rents_gpus()) {
    units = counts.gpus.total;
  } else if (pool.spec.sharing) {
    units = counts.slices ? counts.slices->total : 0;
  }
  return units * duration_cast<seconds>(kBidWindow).count();
}

}  // namespace gpupool::planning
