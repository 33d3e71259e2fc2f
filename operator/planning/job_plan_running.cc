#include <algorithm>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/assess_workers.h"
#include "planning/job_plan_steps.h"
#include "planning/job_status.h"
#include "planning/manifests.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

using Views = std::vector<WorkerView>;

std::int64_t count(const Views& views, WorkerState wanted) {
  return std::count_if(views.begin(), views.end(),
                       [&](const WorkerView& view) { return view.state == wanted; });
}

const WorkerView* first(const Views& views, WorkerState wanted) {
  const auto found =
      std::find_if(views.begin(), views.end(), [&](const WorkerView& view) { return view.state == wanted; });
  return found == views.end() ? nullptr : &*found;
}

// The crash that came first is the cause; the others often follow from it.
const WorkerView* first_crash(const Views& views) {
  const WorkerView* earliest = nullptr;
  for (const auto& view : views) {
    if (view.state != WorkerState::kCrashed) continue;
    const bool sooner =
        earliest != nullptr && !view.finished_at.empty() && view.finished_at < earliest->finished_at;
    if (earliest == nullptr || sooner) earliest = &view;
  }
  return earliest;
}

std::string of_rank(const WorkerView& view) {
  return "rank " + std::to_string(view.rank) + " " + view.message;
}

Step fail_attempt(const Observation& seen, api::GpuJobStatus status, const WorkerView& crash) {
  ++status.failures;
  const auto attempt = "attempt " + std::to_string(status.lease->attempt) + ": ";
  if (status.failures <= seen.job.spec.backoff_limit) {
    return restart(seen, std::move(status), {reason::kWorkerFailed, attempt + of_rank(crash)});
  }
  const Problem why{reason::kBackoffLimitExceeded, attempt + of_rank(crash)};
  status.lease->outcome = api::outcome::kFailed;
  status.completion_time = seen.now;
  return advance(seen, std::move(status), state::kReleasing, phase::kReleasing, why,
                 Note{true, why.reason, why.message});
}

// So many losses of a job that nothing explains are forgiven: a machine that goes down may stop its
// containers before anybody can tell. More of them come from the program or its pod.
constexpr std::int64_t kForgivenLosses = 3;

Step lose_attempt(const Observation& seen, const WorkerView& lost) {
  auto status = seen.job.status;
  if (!lost.unexplained)
    return restart(seen, std::move(status),
                   {reason::kWorkerLost, of_rank(lost) + "; the attempt is not charged"});
  const auto losses = ++status.unexplained_losses;
  if (losses > kForgivenLosses) return fail_attempt(seen, std::move(status), lost);
  return restart(
      seen, std::move(status),
      {reason::kWorkerLost, of_rank(lost) + "; the attempt is not charged (" + std::to_string(losses) +
                                " of " + std::to_string(kForgivenLosses) + " losses without a known cause)"});
}

// One whose cause is known tells more than one that may follow from it.
const WorkerView* first_loss(const Views& views) {
  const WorkerView* found = nullptr;
  for (const auto& view : views) {
    if (view.state != WorkerState::kLost) continue;
    if (!view.unexplained) return &view;
    if (found == nullptr) found = &view;
  }
  return found;
}

// A launcher repeats its result after growing pauses; by then it has done so several times.
constexpr base::Duration kLongestUnproven = std::chrono::minutes(10);

base::Duration until_given_up(const Observation& seen) {
  auto left = kLongestUnproven;
  for (const auto& pod : unproven_pods(seen.pods, seen.job.status.lease->id, seen.worker_container))
    left = std::min(left, kLongestUnproven - seen.unproven_for(*pod));
  return std::max(left, base::Duration::zero());
}

std::optional<Step> give_up_on_result(const Observation& seen, const Views& views) {
  const auto* unproven = first(views, WorkerState::kUnproven);
  if (unproven == nullptr || until_given_up(seen) > base::Duration::zero()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return restart(
      seen, seen.job.status,
      {reason::kWorkerLost, of_rank(*unproven) + " within 10 minutes; the attempt is not charged"});
}

// A worker that runs where the job holds nothing: something took off its pod what binds it to the lease.
std::optional<Step> leave_other_nodes(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  for (const auto& pod : seen.pods) {
    const auto& name = pod->spec.node_name;
    if (name.empty() || pod->metadata.label(api::kLease) != lease.id) continue;
    if (std::any_of(lease.nodes.begin(), lease.nodes.end(),
                    [&](const auto& ref) { return ref.name == name; }))
      continue;
    return release(seen, api::outcome::kQueued,
                   {reason::kWorkerChanged,
                    "pod " + pod->metadata.name + " came to node " + name +
                        ", which the job does not hold: something in this cluster changes worker pods"},
                   true);
  }
  return std::nullopt;
}

// The workload's controller makes no pod: the API server may refuse it, and tells only the controller why.
constexpr base::Duration kPodsExpected = std::chrono::seconds(5);

std::optional<Step> ask_about_pods(const Observation& seen, const Views& views) {
  const auto& lease = *seen.job.status.lease;
  if (seen.job.status.phase == phase::kRunning || first(views, WorkerState::kAbsent) == nullptr)
    return std::nullopt;
  if (seen.pod_rehearsal.problem)
    return release(seen, api::outcome::kQueued, *seen.pod_rehearsal.problem, true);
  if (seen.pod_rehearsal.done) return std::nullopt;
  if (!lease.since || seen.now < *lease.since + kPodsExpected) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return step::RehearsePod{};
}

// How long the scheduler may find no room where room was reserved.
constexpr std::int64_t kStarvationSeconds = 10;

// A worker of a shared lease that has no place: a GPU has fallen sick since, or a stranger was there first.
const WorkerView* starving(const Observation& seen, const Views& views) {
  if (!seen.job.status.lease->shared() || seen.pool == nullptr) return nullptr;
  const auto complaint = "Insufficient " + seen.pool->spec.worker_resource();
  const auto found = std::find_if(views.begin(), views.end(), [&](const WorkerView& view) {
    return view.state == WorkerState::kPending && view.message.find(complaint) != std::string::npos;
  });
  return found == views.end() ? nullptr : &*found;
}

// A kubelet did not admit a worker, or the scheduler found no place for it: the job is placed again.
std::optional<Step> place_again(const Observation& seen, const Views& views) {
  const auto& lease = *seen.job.status.lease;
  const auto found = std::find_if(views.begin(), views.end(), [](const WorkerView& view) {
    return view.refused && view.state == WorkerState::kLost;
  });
  const auto* worker = found == views.end() ? nullptr : &*found;
  if (worker == nullptr && time_left(seen, lease.since, kStarvationSeconds) == base::Duration::zero()) {
    worker = starving(seen, views);
  }
  if (worker == nullptr) return std::nullopt;
  return release(seen, api::outcome::kQueued,
                 {reason::kPlacementRefused, of_rank(*worker) + "; the attempt is not charged"}, true);
}

std::optional<Step> missing_workers(const Observation& seen, const Views& views) {
  const auto& lease = *seen.job.status.lease;
  const bool child = std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& candidate) {
    return candidate.lease_id == lease.id && !candidate.deleting && candidate.type != &api::Service::kType;
  });
  // Once all had started, a rank without a pod has lost it.
  const auto& workers = seen.job.status.workers;
  const bool all_started = workers.total > 0 && workers.running + workers.succeeded >= workers.total;
  const auto* absent = all_started ? first(views, WorkerState::kAbsent) : nullptr;
  if (child && absent == nullptr) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return restart(
      seen, seen.job.status,
      {reason::kWorkerLost,
       child ? "the pod of rank " + std::to_string(absent->rank) + " is gone"
             : "the workers' " + std::string(is_gang(seen.job.spec) ? "StatefulSet" : "Job") + " is gone"});
}

// A node that was cordoned before its worker had come to it.
std::optional<Step> leave_closed_nodes(const Observation& seen, const Views& views) {
  const bool homeless = std::any_of(views.begin(), views.end(), [](const WorkerView& view) {
    return view.state == WorkerState::kPending && !view.placed;
  });
  if (!homeless || cordoned_nodes(seen).empty()) return std::nullopt;
  if (auto left = leave_nodes(seen)) return left;
  return await_nodes(seen, nodes_to_await(seen));
}

// spec.nodeReplacement: Never. Workers that run are left alone, the lost ones may run still; once one has
// ended in whatever way, the loss is the reason.
std::optional<Step> bear_silent_nodes(const Observation& seen, const Views& views) {
  const auto silent = silent_nodes(seen);
  if (silent.empty()) return std::nullopt;
  const auto* lost = first(views, WorkerState::kLost);
  const auto* ended = lost != nullptr ? lost : first_crash(views);
  if (ended == nullptr) return await_nodes(seen, silent);
  if (!seen.live) return step::LookLive{};
  return restart(seen, seen.job.status,
                 {reason::kNodeLost, "lost " + join_names(silent) + ", and " + of_rank(*ended) +
                                         "; the attempt is not charged"});
}

// Whatever selects the ranks' pods by name: without it nobody finds rank 0. Nothing runs because of it.
bool service_is_missing(const Observation& seen) {
  const auto& id = seen.job.status.lease->id;
  return is_gang(seen.job.spec) &&
         std::none_of(seen.children.begin(), seen.children.end(), [&](const Child& child) {
           return child.type == &api::Service::kType && child.lease_id == id;
         });
}

constexpr base::Duration kBlockedRetry = std::chrono::seconds(5);

// Only that workers have succeeded which ran. What else changes the counts is told at once: a lost pod is
// recognized by them.
bool only_ends(const api::GpuJobStatus& before, api::GpuJobStatus after) {
  const auto all = [](const api::WorkerCounts& workers) { return workers.running + workers.succeeded; };
  if (all(before.workers) != all(after.workers) || after.workers.succeeded < before.workers.succeeded)
    return false;
  after.workers = before.workers;
  return after == before;
}

// Says so in the status; the note, if that is news.
std::optional<Note> await_result(const Observation& seen, const WorkerView& unproven,
                                 api::GpuJobStatus& status) {
  status.reason = reason::kWaitingForResult;
  status.message = of_rank(unproven) + "; waiting for its result";
  if (seen.job.status.reason == status.reason) return std::nullopt;
  return Note{true, status.reason, status.message};
}

Step show_progress(const Observation& seen, const Views& views) {
  auto status = seen.job.status;
  const auto total = static_cast<std::int64_t>(views.size());
  const auto running = count(views, WorkerState::kRunning) + count(views, WorkerState::kUnproven);
  const auto succeeded = count(views, WorkerState::kSucceeded);
  auto again = time_left(seen, status.start_time, seen.job.spec.active_deadline_seconds);
  if (const auto loss = until_next_loss(seen)) again = again ? std::min(*again, *loss) : *loss;
  if (status.reason == reason::kWaitingForLostNode) {
    status.lease->since = seen.now;  // startTimeoutSeconds counts anew
    status.reason = reason::kStartingWorkers;
    status.message = "workers of attempt " + std::to_string(status.lease->attempt) + " are starting";
  }
  std::optional<Note> note;
  if (running + succeeded == total || status.phase == phase::kRunning) {
    if (status.phase != phase::kRunning)
      note = Note{false, reason::kWorkersRunning, "all workers are running"};
    status.phase = phase::kRunning;
    status.reason = reason::kWorkersRunning;
    status.message = "attempt " + std::to_string(status.lease->attempt) + " is running";
    status.workers = {total, running, succeeded};
    if (const auto* unproven = first(views, WorkerState::kUnproven)) {
      if (auto told = await_result(seen, *unproven, status)) note = std::move(told);
      again = again ? std::min(*again, until_given_up(seen)) : until_given_up(seen);
    }
  } else {
    const auto left = time_left(seen, status.lease->since, seen.job.spec.start_timeout_seconds);
    const auto* pending = first(views, WorkerState::kPending);
    const auto text = pending != nullptr ? of_rank(*pending) : "workers are being created";
    if (*left == base::Duration::zero()) {
      return release(
          seen, api::outcome::kFailed,
          {reason::kStartTimeout, "workers did not start within " +
                                      std::to_string(seen.job.spec.start_timeout_seconds) + " s: " + text},
          true);
    }
    if (pending != nullptr && pending->message != "starting") status.message = text;
    if (first(views, WorkerState::kAbsent) != nullptr)
      again = again ? std::min(*again, kPodsExpected) : kPodsExpected;
    again = again ? std::min(*again, *left) : *left;
    if (starving(seen, views) != nullptr)
      again = std::min(*again, *time_left(seen, status.lease->since, kStarvationSeconds));
  }
  std::optional<Problem> stalled;
  if (api::spec_hash(seen.job.spec) != status.lease->spec_hash) {
    stalled = Problem{reason::kSpecChanged,
                      "pool, gpus, gpusPerWorker, nodes or template changed while the job runs; the change "
                      "takes effect with "
                      "the next lease"};
  }
  if (seen.blocked) {  // a mark on a node, or the Service, could not be put back
    stalled = *seen.blocked;
    again = again ? std::min<base::Duration>(*again, kBlockedRetry) : kBlockedRetry;
  }
  settle_status(status, seen.job.metadata.generation, stalled, seen.now);
  if (status == seen.job.status) return step::Idle{again};
  if (seen.until_count > base::Duration::zero() && only_ends(seen.job.status, status))
    return step::Idle{again ? std::min(*again, seen.until_count) : seen.until_count};
  return step::WriteStatus{std::move(status), std::move(note)};
}

// What the clock alone decides must not come from an old cache: the watches may have stood still for a while.
bool clock_decides(const Observation& seen, const Views& views) {
  const auto& status = seen.job.status;
  const auto is_over = [&](const std::optional<base::WallTime>& begin, std::optional<std::int64_t> limit) {
    return time_left(seen, begin, limit) == base::Duration::zero();
  };
  const bool starting = status.phase != phase::kRunning;
  return is_over(status.start_time, seen.job.spec.active_deadline_seconds) ||
         (starting && is_over(status.lease->since, seen.job.spec.start_timeout_seconds)) ||
         (starving(seen, views) != nullptr && is_over(status.lease->since, kStarvationSeconds));
}

}  // namespace

Step plan_running(const Observation& seen) {
  const auto& job = seen.job;
  const auto views =
      assess_workers(seen.pods, job.status.lease->id, api::worker_count(job.spec), seen.worker_container);
  const auto total = static_cast<std::int64_t>(views.size());
  if (count(views, WorkerState::kSucceeded) == total) {
    return release(seen, api::outcome::kSucceeded, {reason::kCompleted, "all workers succeeded"}, false);
  }
  if (job.spec.suspend) {
    return release(seen, api::outcome::kSuspended, {reason::kSuspended, "spec.suspend is true"}, false);
  }
  if (!seen.live && clock_decides(seen, views)) return step::LookLive{};
  if (auto late = enforce_deadline(seen)) return *std::move(late);
  if (!given_up_nodes(seen).empty()) return *leave_nodes(seen);
  if (auto waits = bear_silent_nodes(seen, views)) return *std::move(waits);
  if (auto again = place_again(seen, views)) return *std::move(again);
  if (const auto* lost = first_loss(views)) return lose_attempt(seen, *lost);
  if (const auto* crash = first_crash(views)) return fail_attempt(seen, job.status, *crash);
  if (auto outside = leave_other_nodes(seen)) return *std::move(outside);
  if (auto given_up = give_up_on_result(seen, views)) return *std::move(given_up);
  if (auto missing = missing_workers(seen, views)) return *std::move(missing);
  if (auto left = leave_closed_nodes(seen, views)) return *std::move(left);
  if (auto asked = ask_about_pods(seen, views)) return *std::move(asked);
  if (!seen.nodes_taken && !seen.blocked && !nodes_carry(seen)) return step::TakeNodes{};
  if (!seen.blocked && service_is_missing(seen)) {
    if (!seen.live) return step::LookLive{};
    return step::RestoreService{};
  }
  return show_progress(seen, views);
}

}  // namespace gpupool::planning
