// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/job_metrics.h"

#include "api/v1alpha1/reasons.h"

#include <algorithm>

#include "planning/job/job_status.h"

namespace gpupool::controllers {
namespace {

const std::vector<double>& seconds_buckets() {
  static const std::vector<double> buckets = {0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400};
  return buckets;
}

double seconds_between(base::WallTime begin, base::WallTime end) {
  return std::max(0.0, std::chrono::duration<double>(end - begin).count());
}

}  // namespace

JobMetrics::JobMetrics(base::Metrics& metrics)
    : metrics_(metrics),
      queue_wait_(metrics.histogram("gpupool_job_queue_wait_seconds",
                                    "From a job's creation until its first lease is held",
                                    seconds_buckets())),
      lease_duration_(metrics.histogram("gpupool_lease_duration_seconds",
                                        "From the first lease of a job until its nodes were given back",
                                        seconds_buckets())),
      marks_restored_(metrics.counter("gpupool_lease_marks_restored_total",
                                      "Taints, labels or annotations of a lease that somebody took off a "
                                      "node and that were put back")) {
  for (const char* phase : {api::phase::kQueued, api::phase::kInvalid, api::phase::kStarting,
                            api::phase::kRunning, api::phase::kRestarting, api::phase::kReleasing,
                            api::phase::kSuspended, api::phase::kSucceeded, api::phase::kFailed}) {
    metrics_.gauge("gpupool_jobs", "Jobs by phase", {{"phase", phase}}).set(jobs_[phase]);
  }
}

void JobMetrics::on_status(const api::GpuJob& before, const api::GpuJobStatus& after, base::WallTime now) {
  const auto& was = before.status;
  const bool first = was.attempts == 0 && was.lease_sequence <= 1;  // not a job that waits once more
  if (first && !was.start_time && after.start_time && before.metadata.creation_timestamp) {
    queue_wait_.observe(seconds_between(*before.metadata.creation_timestamp, now));
  }
  if (planning::holds_nodes(was) && !planning::holds_nodes(after) && was.start_time) {
    lease_duration_.observe(seconds_between(*was.start_time, now));
  }
  if (after.attempts > was.attempts) {
    metrics_.counter("gpupool_job_attempts_total", "Attempts begun").increment();
  }
  if (after.progress && !after.progress->history.empty()) on_end_of_attempt(was, *after.progress);
  if (!was.completion_time && after.completion_time) {
    metrics_.counter("gpupool_jobs_finished_total", "Jobs ended, by reason", {{"reason", after.reason}})
        .increment();
  }
  if (after.source || after.results) on_transfers(was, after);
  on_claim(was, after);
}

// Made with their first use: only pools with spec.queue have them.
void JobMetrics::on_claim(const api::GpuJobStatus& before, const api::GpuJobStatus& after) {
  const auto awaits = [](const api::GpuJobStatus& status) {
    return status.lease && status.lease->state == api::lease_state::kAwaiting;
  };
  const auto yields = [](const api::GpuJobStatus& status) {
    return status.progress ? status.progress->yields : std::int64_t{0};
  };
  if (awaits(after) && !awaits(before))
    metrics_.counter("gpupool_job_claims_total", "Jobs for which others were asked to make room").increment();
  if (awaits(before) && !awaits(after) && after.reason == api::reason::kVictimStuck)
    metrics_.counter("gpupool_job_claims_stuck_total", "Claims given up, because nodes were not free in time")
        .increment();
  if (yields(after) > yields(before))
    metrics_.counter("gpupool_job_yields_total", "Times that a job made room for another").increment();
}

// Made with its first use.
void JobMetrics::on_end_of_attempt(const api::GpuJobStatus& before, const api::JobProgress& after) {
  const auto& end = after.history.back();
  const bool known = before.progress && !before.progress->history.empty() &&
                     before.progress->history.back().attempt >= end.attempt;
  if (known) return;
  metrics_
      .counter("gpupool_job_attempts_ended_total", "Attempts that ended before their job, by cause",
               {{"cause", end.cause}})
      .increment();
}

// Made with their first use, so that nobody else has them.
void JobMetrics::on_transfers(const api::GpuJobStatus& before, const api::GpuJobStatus& after) {
  const auto& source = after.source;
  if (source && (!before.source || before.source->attempt != source->attempt)) {
    metrics_
        .counter("gpupool_job_sources_total", "Sources fetched or failed, by state",
                 {{"state", source->state}})
        .increment();
    metrics_
        .counter("gpupool_job_source_bytes_total", "Bytes of sources that one worker of each attempt fetched")
        .increment(static_cast<double>(source->bytes));
    metrics_
        .histogram("gpupool_job_source_seconds", "How long fetching took the slowest worker",
                   seconds_buckets())
        .observe(static_cast<double>(source->seconds));
  }
  const auto& results = after.results;
  if (results && (!before.results || before.results->attempt != results->attempt)) {
    metrics_
        .counter("gpupool_job_results_total", "Results of attempts, by state", {{"state", results->state}})
        .increment();
  }
}

void JobMetrics::add(const api::GpuJob* job, double more) {
  if (job == nullptr) return;
  const auto found = jobs_.find(job->status.phase.empty() ? api::phase::kQueued : job->status.phase.string());
  if (found == jobs_.end()) return;
  found->second += more;
  metrics_.gauge("gpupool_jobs", "Jobs by phase", {{"phase", found->first}}).set(found->second);
}

void JobMetrics::on_change(const api::GpuJob* before, const api::GpuJob* after) {
  if (before != nullptr && after != nullptr && before->status.phase == after->status.phase) return;
  const base::MutexLock lock(mutex_);
  add(before, -1);
  add(after, 1);
}

}  // namespace gpupool::controllers
