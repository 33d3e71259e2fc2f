// SPDX-License-Identifier: Apache-2.0
#include "planning/job/settle_attempt.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <variant>

#include "api/v1alpha1/lease_value.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "base/rfc3339.h"
#include "planning/job/attempt_history.h"
#include "planning/job/end_workers.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/save_results.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/checkpoint_report.h"

namespace gpupool::planning {
namespace {

namespace outcome = api::outcome;
namespace state = api::lease_state;

// A message is cut at 4096 bytes, and a problem that was cut off would be added again and again.
constexpr std::size_t kMostBeforeProblem = 3000;

std::int64_t number_of(const std::string& lease_id) {
  const auto value = api::parse_lease_value(lease_id);
  return value ? value->n : 0;
}

// What the ranks have reported together. A checkpoint of which each rank keeps a part is complete at the
// lowest of their steps.
struct Reports {
  std::optional<CheckpointReport> lowest;
  std::optional<base::Duration> since;  // from the report to the end of its rank's command
  std::string problem;
};

// Does not depend on the order of the pods: of equal steps, the one that was reported last counts.
bool counts_before(const CheckpointReport& a, const CheckpointReport& b) {
  return std::tuple(a.step, b.at, b.path) < std::tuple(b.step, a.at, a.path);
}

// As statuses have times: what is read back must be equal to what was written.
CheckpointReport in_whole_seconds(CheckpointReport report) {
  if (report.at) report.at = std::chrono::floor<std::chrono::seconds>(*report.at);
  return report;
}

Reports reports_of(const Observation& seen, const std::string& id) {
  Reports found;
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) != id) continue;
    const auto result = result_of_worker(*pod, seen.worker_container);
    if (!result) continue;
    const auto read = checkpoint_report(*result);
    const auto* problem = std::get_if<ReportProblem>(&read);
    if (problem != nullptr && found.problem.empty())
      found.problem = "the report of rank " + std::to_string(rank_of(*pod)) + " is ignored: " + problem->text;
    const auto* report = std::get_if<CheckpointReport>(&read);
    if (report == nullptr || (found.lowest && !counts_before(*report, *found.lowest))) continue;
    const auto ended = base::parse_rfc3339(result->finished_at);
    found.since.reset();
    if (report->at && ended) found.since = std::chrono::duration_cast<base::Duration>(*ended - *report->at);
    found.lowest = in_whole_seconds(*report);
  }
  return found;
}

bool is_new(const api::GpuJobStatus& status, const CheckpointReport& report) {
  return !status.progress || status.progress->checkpoint != base::Boxed<CheckpointReport>(report);
}

void take_over(api::GpuJobStatus& status, const Reports& reports, std::int64_t attempt) {
  const auto& report = *reports.lowest;
  if (!status.progress) status.progress.emplace();
  status.progress->checkpoint = report;
  auto* end = end_of(status, attempt);
  if (end == nullptr) return;
  end->from_step = report.step;
  if (!reports.since) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*reports.since).count();
  end->repeated_seconds = std::max<std::int64_t>(0, seconds);
}

// Puts what the ranks have reported into the status. Returns a note if something is new.
std::optional<Note> record(api::GpuJobStatus& status, Reports reports) {
  const auto attempt = status.attempts - 1;
  std::optional<Note> note;
  if (reports.lowest && status.progress && status.progress->checkpoint &&
      reports.lowest->step < status.progress->checkpoint->step) {
    reports.problem = "the report of attempt " + std::to_string(attempt) + " is ignored: step " +
                      std::to_string(reports.lowest->step) + " comes before step " +
                      std::to_string(status.progress->checkpoint->step) + ", which was reported before";
    reports.lowest.reset();
  }
  if (reports.lowest && is_new(status, *reports.lowest)) {
    take_over(status, reports, attempt);
    const auto& path = reports.lowest->path;
    note = Note{false, api::event::kCheckpointed,
                "attempt " + std::to_string(attempt) + " saved its work at step " +
                    std::to_string(reports.lowest->step) + (path.empty() ? "" : ", in " + path)};
  }
  const bool told = status.message.find(reports.problem) != std::string::npos;
  if (!reports.problem.empty() && !told && status.message.size() < kMostBeforeProblem) {
    status.message += "; " + reports.problem;
    note = Note{true, api::event::kReportIgnored, reports.problem};
  }
  return note;
}

bool may_still_succeed(const api::Lease& lease) {
  if (lease.state == state::kRestarting) return true;
  return lease.state == state::kReleasing &&
         (lease.outcome == outcome::kQueued || lease.outcome == outcome::kSuspended);
}

// All ranks had ended with code 0 before somebody stopped the attempt. They are not run again.
std::optional<Step> succeed(const Observation& seen, const std::string& id) {
  if (!may_still_succeed(*seen.job.status.lease)) return std::nullopt;
  const auto views = assess_workers(seen.pods, id, count_of_workers(seen), seen.worker_container);
  const bool all = std::ranges::all_of(
      views, [](const WorkerView& view) { return view.state == WorkerState::kSucceeded; });
  if (!all) return std::nullopt;
  auto status = seen.job.status;
  if (seen.job.spec.checkpoint) record(status, reports_of(seen, id));
  if (auto* end = end_of(status, status.attempts - 1))
    status.progress->history.erase(status.progress->history.begin() +
                                   (end - status.progress->history.data()));
  return release(seen, std::move(status), outcome::kSucceeded, all_succeeded(views), false);
}

// With code 0, before it was told to stop.
bool has_succeeded(const Observation& seen, const api::Pod& pod) {
  return assess_worker(pod, seen.worker_container, rank_of(pod)).state == WorkerState::kSucceeded;
}

bool settles(const api::GpuJobStatus& status) {
  return status.lease && status.attempts > 0 &&
         (status.lease->state == state::kRestarting ||
          (status.lease->state == state::kReleasing && status.lease->outcome != outcome::kDeleted &&
           status.lease->outcome != outcome::kSucceeded));
}

}  // namespace

std::string value_of_ended_attempt(const Observation& seen) {
  const auto attempt = seen.job.status.attempts - 1;
  std::string newest;
  for (const auto& pod : seen.pods) {
    const auto id = pod->metadata.label(api::kLease);
    if (number_of(id) <= number_of(newest)) continue;
    const auto result = result_of_worker(*pod, seen.worker_container);
    if (result && result->attempt == attempt) newest = id;
  }
  return newest;
}

std::optional<Step> settle_attempt(const Observation& seen) {
  if (!settles(seen.job.status)) return std::nullopt;
  const auto id = value_of_ended_attempt(seen);
  if (id.empty()) return std::nullopt;
  if (auto success = succeed(seen, id)) return success;
  if (!seen.job.spec.checkpoint) return std::nullopt;
  auto status = seen.job.status;
  auto note = record(status, reports_of(seen, id));
  if (!note) return std::nullopt;
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), std::move(note)};
}

bool awaits_settlement(const Observation& seen, const api::Pod& pod) {
  if (!settles(seen.job.status)) return false;
  if (!seen.job.spec.checkpoint && !has_succeeded(seen, pod)) return false;
  const auto id = value_of_ended_attempt(seen);
  if (id.empty() || pod.metadata.label(api::kLease) != id) return false;
  const auto& lease = *seen.job.status.lease;
  const bool some_run = stale_workers_run(seen, lease.state == state::kRestarting ? lease.id : "");
  return some_run || settle_attempt(seen).has_value();
}

Step record_last_report(const Observation& seen, Step step) {
  auto* write = std::get_if<step::WriteStatus>(&step);
  const auto& lease = seen.job.status.lease;
  if (write == nullptr || !seen.job.spec.checkpoint || !lease || !write->status.lease) return step;
  const auto& next = *write->status.lease;
  if (next.outcome != outcome::kSucceeded || lease->outcome == outcome::kSucceeded) return step;
  record(write->status, reports_of(seen, lease->id));
  return step;
}

}  // namespace gpupool::planning
