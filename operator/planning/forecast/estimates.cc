// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/estimates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "base/json.h"
#include "planning/workers/grace_period.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;

// From the end of a worker's grace period to the free node, and from the grant to the start of the deadline:
// the reports of a kubelet and the writes of the operator.
constexpr auto kOverhead = seconds(60);
constexpr std::size_t kFewSamples = 10;

struct GraceSpec {
  std::optional<std::int64_t> seconds;
};
struct GraceTemplate {
  GraceSpec spec;
};

}  // namespace
}  // namespace gpupool::planning

template <>
struct gpupool::base::json::Schema<gpupool::planning::GraceSpec> {
  using T = planning::GraceSpec;
  static constexpr auto fields = std::array{field<&T::seconds>("terminationGracePeriodSeconds")};
};
template <>
struct gpupool::base::json::Schema<gpupool::planning::GraceTemplate> {
  using T = planning::GraceTemplate;
  static constexpr auto fields = std::array{field<&T::spec>("spec")};
};

namespace gpupool::planning {
namespace {

base::Duration grace_of(const api::GpuJob& job, const api::GpuPool& pool) {
  std::optional<std::int64_t> of_template;
  const auto& text = job.spec.pod_template.text;
  if (text.find("terminationGracePeriodSeconds") != std::string::npos) {  // rare, and parsing costs
    if (const auto parsed = base::json::read<GraceTemplate>(text)) of_template = parsed->spec.seconds;
  }
  return seconds(grace_seconds(job.spec, of_template, pool.spec.max_termination_grace_period_seconds));
}

bool gives_back(const api::GpuJob& job) {
  return job.metadata.deleting() || job.spec.suspend ||
         (job.status.lease && job.status.lease->state == api::lease_state::kReleasing);
}

// When the job began to hold nodes, or else now.
base::WallTime begin_of(const api::GpuJob& job, base::WallTime now) {
  if (job.status.start_time) return std::min(*job.status.start_time, now);
  return job.status.lease && job.status.lease->since ? std::min(*job.status.lease->since, now) : now;
}

}  // namespace

std::optional<base::Duration> Estimates::of_history(const api::GpuJob& job, base::Duration after,
                                                    Guess guess) {
  if (history_.empty()) return std::nullopt;
  const auto kind = RunTimes::kind_of(job);
  const auto known = history_.find(kind);
  if (known == history_.end()) return std::nullopt;
  const auto& all = known->second;
  const auto first = std::ranges::upper_bound(all, after);
  const auto count = static_cast<std::size_t>(all.end() - first);
  if (count == 0) return std::nullopt;
  used_[kind] = std::max(used_[kind], count);
  const auto margin = count < kFewSamples ? 0 : count / 10;
  const auto index = guess == Guess::kEarly ? margin : guess == Guess::kLate ? count - 1 - margin : count / 2;
  return first[static_cast<std::ptrdiff_t>(index)];
}

std::optional<base::Duration> Estimates::likely_hold(const api::GpuJob& job, Guess guess) {
  auto likely = of_history(job, base::Duration::zero() - seconds(1), guess);
  const auto& deadline = job.spec.active_deadline_seconds;
  if (!deadline) return likely;
  if (likely) return std::min(*likely, base::Duration(seconds(*deadline)));
  used_deadlines_ = true;
  return seconds(*deadline);
}

std::optional<base::WallTime> Estimates::likely_end(const Holder& holder, Guess guess) {
  const auto& job = *holder.job;
  if (gives_back(job)) return now_;
  const auto begin = begin_of(job, now_);
  const auto elapsed = std::chrono::duration_cast<base::Duration>(now_ - begin);
  const auto& deadline = job.spec.active_deadline_seconds;
  std::optional<base::WallTime> at_deadline;
  if (deadline) at_deadline = std::max(now_, begin + seconds(*deadline));
  if (const auto likely = of_history(job, elapsed, guess)) {
    const auto end = begin + std::chrono::duration_cast<base::WallTime::duration>(*likely);
    return at_deadline ? std::min(end, *at_deadline) : end;
  }
  if (at_deadline) used_deadlines_ = true;
  return at_deadline;
}

std::int64_t Estimates::samples() const {
  std::size_t sum = 0;
  for (const auto& [kind, count] : used_) sum += count;
  return static_cast<std::int64_t>(sum);
}

base::Duration longest_ending(const api::GpuJob& job, const api::GpuPool& pool) {
  return grace_of(job, pool) + kOverhead;
}

std::optional<base::Duration> longest_hold(const api::GpuJob& job, const api::GpuPool& pool) {
  const auto& deadline = job.spec.active_deadline_seconds;
  if (!deadline) return std::nullopt;
  return seconds(*deadline) + grace_of(job, pool) + kOverhead;
}

std::optional<base::WallTime> latest_end(const Holder& holder, const api::GpuPool& pool, base::WallTime now) {
  return latest_end(*holder.job, pool, now);
}

std::optional<base::WallTime> latest_end(const api::GpuJob& job, const api::GpuPool& pool,
                                         base::WallTime now) {
  const auto ending = std::chrono::duration_cast<base::WallTime::duration>(grace_of(job, pool) + kOverhead);
  if (gives_back(job)) return now + ending;
  const auto longest = longest_hold(job, pool);
  if (!longest) return std::nullopt;
  const auto end = begin_of(job, now) + std::chrono::duration_cast<base::WallTime::duration>(*longest);
  return std::max(end, now + ending);  // one that is late ends now
}

}  // namespace gpupool::planning
