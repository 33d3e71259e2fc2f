// SPDX-License-Identifier: Apache-2.0
#include "planning/job/line_entry.h"

#include <algorithm>

#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
using std::chrono::seconds;

constexpr base::Duration kFirstRetry = seconds(5);
constexpr base::Duration kLastRetry = seconds(300);

base::Duration since(const std::optional<base::WallTime>& begin, base::WallTime now) {
  if (!begin || *begin > now) return base::Duration::zero();
  return std::chrono::duration_cast<base::Duration>(now - *begin);
}

base::Duration stalled_for(const api::GpuJob& job, base::WallTime now) {
  const auto* stalled = api::find_condition(job.status.conditions, "Stalled");
  return stalled == nullptr ? base::Duration::zero() : since(stalled->last_transition_time, now);
}

// Number of leases and attempts that failed without being charged.
std::int64_t in_vain(const api::GpuJobStatus& status) {
  return std::clamp<std::int64_t>(status.lease_sequence - status.failures, 1, 7);
}

}  // namespace

bool keeps_out_of_line(const std::string& why) {
  return why == reason::kTemplateRefused || why == reason::kNameConflict || why == reason::kForbidden ||
         why == reason::kQuotaExceeded || why == reason::kCreateFailed || why == reason::kWorkerChanged ||
         why == reason::kNamespaceTerminating;
}

std::optional<api::Problem> standing_stall(const api::GpuJob& job) {
  const auto* stalled = api::find_condition(job.status.conditions, "Stalled");
  if (stalled == nullptr || stalled->status != "True" || holds_nodes(job.status)) return std::nullopt;
  if (stalled->observed_generation != job.metadata.generation) return std::nullopt;
  api::Problem problem{stalled->reason.string(), stalled->message.string()};
  if (!keeps_out_of_line(problem.reason)) return std::nullopt;
  return problem;
}

api::GpuJob with_next_lease(const api::GpuJob& job, bool shared, bool of_gpus) {
  auto next = job;
  api::Lease lease;
  lease.id = api::LeaseValue{job.metadata.uid, job.status.lease_sequence + 1}.to_string();
  lease.attempt = job.status.attempts;
  lease.slices = of_gpus ? api::gpus_of_each_worker(job.spec) : shared ? 1 : 0;
  if (of_gpus) lease.unit = api::sharing_unit::kGpu;
  lease.nodes = {{"", job.metadata.uid, shared ? 1 : 0}};
  next.status.lease = std::move(lease);
  return next;
}

bool stands_in_line(const api::GpuJob& job) {
  const auto& why = job.status.reason;
  return wants_nodes(job) && !standing_stall(job) && why != reason::kPlacementRefused &&
         why != reason::kBudgetExhausted && why != reason::kWrongCurrency;
}

bool is_retried(const api::Problem& stall) {
  return stall.reason != reason::kTemplateRefused && stall.reason != reason::kNamespaceTerminating;
}

base::Duration until_retry(const api::GpuJob& job, base::WallTime now) {
  const auto first = std::min(kLastRetry, kFirstRetry * (std::int64_t{1} << (in_vain(job.status) - 1)));
  return std::max(base::Duration::zero(), first - stalled_for(job, now));
}

base::Duration retry_pause(const api::GpuJob& job, base::WallTime now) {
  return std::clamp(stalled_for(job, now), kFirstRetry, kLastRetry);
}

base::Duration until_placed_again(const api::GpuJob& job, base::WallTime now) {
  const auto& status = job.status;
  if (status.reason != reason::kPlacementRefused) return base::Duration::zero();
  const auto* leased = api::find_condition(status.conditions, "Leased");
  if (leased == nullptr) return base::Duration::zero();
  const auto uncharged = std::clamp<std::int64_t>(status.attempts - status.failures, 1, 8);
  const auto pause = std::min(kLastRetry, base::Duration(seconds(std::int64_t{1} << uncharged)));
  return std::max(base::Duration::zero(), pause - since(leased->last_transition_time, now));
}

}  // namespace gpupool::planning
