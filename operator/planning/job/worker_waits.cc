// SPDX-License-Identifier: Apache-2.0
#include "planning/job/worker_waits.h"

#include <algorithm>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/names.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/mount_trouble.h"
#include "planning/workers/transfers.h"

namespace gpupool::planning {
namespace {

// How long the operator waits for a launcher to repeat its result. The launcher does so several times in this
// time.
constexpr base::Duration kLongestUnproven = std::chrono::minutes(10);

constexpr base::Duration kFirstMountQuestion = std::chrono::seconds(10);

// The time of the last question at this age; zero if there was none.
base::Duration last_mount_question(base::Duration age) {
  if (age < kFirstMountQuestion) return base::Duration::zero();
  auto last = kFirstMountQuestion;
  while (last * 2 <= age) last *= 2;
  return last;
}

}  // namespace

bool asks_about_mounts(base::Duration age) {
  const auto last = last_mount_question(age);
  return last > base::Duration::zero() && age - last < kMountsAskedWithin;
}

base::Duration until_mounts_asked(base::Duration age) {
  const auto last = last_mount_question(age);
  return (last > base::Duration::zero() ? last * 2 : kFirstMountQuestion) - age;
}

const WorkerView* stuck_worker(const WorkerViews& views) {
  const auto found = std::ranges::find_if(
      views, [](const WorkerView& view) { return view.state == WorkerState::kPending && view.stuck; });
  return found == views.end() ? nullptr : &*found;
}

std::optional<base::Duration> until_moved(const Observation& seen, const WorkerViews& views) {
  const bool stuck = stuck_worker(views) != nullptr;
  const auto waited = seen.stuck_for(stuck);
  if (!stuck) return std::nullopt;
  const bool complete = first(views, WorkerState::kAbsent) == nullptr;
  return std::max(base::Duration::zero(), (complete ? kLongestStuck : kLongestStuckIncomplete) - waited);
}

std::shared_ptr<const api::Pod> silent_start(const Observation& seen, const WorkerViews& views) {
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) != seen.job.status.lease->id || !may_wait_for_volumes(*pod))
      continue;
    const bool silent = std::ranges::any_of(views, [&](const WorkerView& view) {
      return view.rank == rank_of(*pod) && view.state == WorkerState::kPending && view.message == kStarting;
    });
    if (silent) return pod;
  }
  return nullptr;
}

std::int64_t start_limit(const Observation& seen) {
  const auto& spec = seen.job.spec;
  if (!spec.source) return spec.start_timeout_seconds;
  const bool fetches = std::ranges::any_of(seen.pods, [&](const auto& pod) {
    return pod->metadata.label(api::kLease) == seen.job.status.lease->id && fetches_source(*pod);
  });
  const auto source = base::json::read<api::JobSource>(spec.source->text);
  return spec.start_timeout_seconds + (fetches && source ? source->timeout_seconds : 0);
}

base::Duration until_given_up(const Observation& seen) {
  auto left = kLongestUnproven;
  for (const auto& pod : unproven_pods(seen.pods, seen.job.status.lease->id, seen.worker_container))
    left = std::min(left, kLongestUnproven - seen.unproven_for(*pod));
  return std::max(left, base::Duration::zero());
}

}  // namespace gpupool::planning
