// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweep/reconciler.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/sweep/sweep_validation.h"

namespace gpupool::controllers {
namespace {

using std::chrono::seconds;

constexpr auto kStatusInterval = seconds(1);
// How soon the server is asked again whether it takes the jobs, and a cache that lacks a job is looked at.
constexpr auto kTryAgain = seconds(5);
constexpr auto kWhileCacheIsBehind = seconds(1);
// How soon an invalid sweep is examined again: its pool may have changed.
constexpr auto kInvalidAgain = seconds(30);
// More failures of one sweep are only in its status.
constexpr std::int64_t kMostFailureEvents = 10;

}  // namespace

SweepReconciler::SweepReconciler(kube::Client& client, Caches& caches, runtime::EventRecorder& events,
                                 SweepMetrics& metrics, AskWorkers ask, const base::Clock& clock)
    : caches_(caches),
      events_(events),
      metrics_(metrics),
      clock_(clock),
      writer_(client, caches),
      statuses_(kStatusInterval, clock),
      live_(client, caches, std::move(ask), clock) {}

base::Result<runtime::Requeue> SweepReconciler::reconcile(const api::ObjectKey& key, const base::Log& /*log*/,
                                                          std::stop_token stop) {
  auto sweep = caches_.newest_sweeps.get(key);
  if (sweep == nullptr || sweep->metadata.deleting()) {
    forget(key);
    return runtime::Requeue{};
  }
  const auto ask_again = ask_workers(*sweep, stop);
  Learned learned;
  if (sweep->status.spec_hash.empty()) learned.problem = why_invalid(*sweep, stop);
  auto next = plan(*sweep, learned);
  if (!next.look_up.empty()) {
    if (auto done = look_up(*sweep, next, learned, stop); !done)
      return tl::unexpected<base::Error>(done.error());
    next = plan(*sweep, learned);
  }
  std::optional<base::Error> error;
  if (!next.create.empty()) {
    const auto space = space_of(*sweep);
    if (auto done = writer_.confirm(*sweep, stop); !done) return tl::unexpected<base::Error>(done.error());
    auto created = writer_.create(*sweep, next.create, *space, stop);
    learned.taken = std::move(created.taken);
    learned.problem = std::move(created.problem);
    error = std::move(created.error);
    next = plan(*sweep, learned);
  }
  if (auto done = suspend(next, stop); !done) return tl::unexpected<base::Error>(done.error());
  const bool is_behind = !next.look_up.empty();
  auto requeue = finish(sweep, next, stop);
  if (!requeue) return requeue;
  if (error) return tl::unexpected<base::Error>(*error);
  const bool has_begun = !sweep->status.spec_hash.empty();
  if (learned.problem && has_begun && !requeue->after) requeue->after = kTryAgain;
  if (is_behind && !requeue->after) requeue->after = kWhileCacheIsBehind;
  if (ask_again) requeue->after = std::min(requeue->after.value_or(*ask_again), *ask_again);
  return requeue;
}

std::optional<api::Problem> SweepReconciler::why_invalid(const api::GpuSweep& sweep, std::stop_token stop) {
  const auto job = base::json::read<api::GpuJobSpec>(sweep.spec.job.text);
  const auto pool = job ? caches_.pools.store().get({"", job->pool}) : nullptr;
  auto problem = planning::validate_sweep(sweep, pool.get(), *caches_.template_fields.get());
  if (problem) return problem;
  return writer_.rehearse(sweep, *space_of(sweep), std::move(stop));
}

planning::SweepPlan SweepReconciler::plan(const api::GpuSweep& sweep, const Learned& learned) {
  planning::SweepObservation seen{.sweep = sweep,
                                  .jobs = caches_.newest_jobs.by_index(kBySweepUid, sweep.metadata.uid),
                                  .problem = learned.problem,
                                  .gone = learned.gone,
                                  .taken = learned.taken,
                                  .live = live_.values(sweep),
                                  .live_trouble = live_.trouble(sweep),
                                  .now = clock_.wall()};
  const bool is_valid = sweep.status.spec_hash.empty() ? !learned.problem.has_value()
                                                       : sweep.status.spec_hash == api::spec_hash(sweep.spec);
  const auto space = is_valid && !sweep.finished() ? space_of(sweep) : nullptr;
  seen.space = space.get();
  return planning::plan_sweep(seen);
}

std::shared_ptr<const planning::TrialSpace> SweepReconciler::space_of(const api::GpuSweep& sweep) {
  auto& space = spaces_[sweep.metadata.key()];
  const auto hash = api::spec_hash(sweep.spec);
  if (space.trials == nullptr || space.spec_hash != hash)
    space = {hash, std::make_shared<const planning::TrialSpace>(sweep.spec)};
  return space.trials;
}

std::optional<base::Duration> SweepReconciler::ask_workers(const api::GpuSweep& sweep, std::stop_token stop) {
  const auto& spec = sweep.spec;
  if (!spec.stopping || !spec.objective || spec.suspend) return std::nullopt;
  if (sweep.finished() || sweep.status.spec_hash != api::spec_hash(spec)) return std::nullopt;
  const auto jobs = caches_.newest_jobs.by_index(kBySweepUid, sweep.metadata.uid);
  return live_.ask(sweep, jobs, std::move(stop));
}

void SweepReconciler::forget(const api::ObjectKey& key) {
  spaces_.erase(key);
  live_.forget(key);
}

base::Result<void> SweepReconciler::look_up(const api::GpuSweep& sweep, const planning::SweepPlan& plan,
                                            Learned& learned, std::stop_token stop) {
  for (const auto trial : plan.look_up) {
    const auto exists = writer_.exists(sweep, trial, stop);
    if (!exists) return tl::unexpected<base::Error>(exists.error());
    if (!*exists) learned.gone.insert(trial);
  }
  return {};
}

base::Result<void> SweepReconciler::suspend(const planning::SweepPlan& plan, std::stop_token stop) {
  for (const bool suspended : {true, false}) {
    for (const auto& job : suspended ? plan.suspend : plan.resume) {
      if (auto done = writer_.suspend(*job, suspended, stop); !done) return done;
    }
  }
  return {};
}

base::Result<runtime::Requeue> SweepReconciler::finish(const Sweep& sweep, const planning::SweepPlan& plan,
                                                       std::stop_token stop) {
  for (const auto& job : plan.remove) {
    if (auto done = writer_.remove(*job, stop); !done) return tl::unexpected<base::Error>(done.error());
  }
  if (plan.status == sweep->status) {
    if (plan.status.phase == api::phase::kInvalid) return runtime::Requeue{kInvalidAgain};
    return runtime::Requeue{};
  }
  const bool is_urgent = plan.status.phase != sweep->status.phase;
  const auto& uid = sweep->metadata.uid;
  if (const auto wait = statuses_.until_next(uid); !is_urgent && wait > base::Duration::zero())
    return runtime::Requeue{wait};
  const auto written = writer_.write_status(*sweep, plan.status, stop);
  if (!written) {
    if (written.error().code == base::ErrorCode::kNotFound) return runtime::Requeue{};  // it is gone
    return tl::unexpected<base::Error>(written.error());
  }
  statuses_.done(uid);
  tell(*sweep, plan.status);
  if (plan.status.completion_time) forget(sweep->metadata.key());
  return runtime::Requeue{base::Duration::zero()};  // trials begin and jobs are removed after the write
}

void SweepReconciler::tell(const api::GpuSweep& sweep, const api::GpuSweepStatus& after) {
  metrics_.on_status(sweep.status, after);
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuSweep::kType.kind),
                                       sweep.metadata.key(), sweep.metadata.uid,
                                       sweep.metadata.resource_version};
  const auto record = [&](bool warning, const std::string& reason, const std::string& note) {
    events_.record(about, warning ? runtime::EventType::kWarning : runtime::EventType::kNormal, reason,
                   "Reconcile", note);
  };
  const auto& before = sweep.status;
  for (const auto& failure : after.failures) {
    const bool is_old =
        std::find(before.failures.begin(), before.failures.end(), failure) != before.failures.end();
    if (is_old || after.counts.failed > kMostFailureEvents) continue;
    record(true, api::event::kTrialFailed,
           "trial " + std::to_string(failure.trial) + ": " + failure.reason + ": " + failure.message);
  }
  const bool is_bad = after.phase == api::phase::kFailed || after.phase == api::phase::kInvalid;
  const bool is_stuck =
      api::is_true(after.conditions, "Stalled") && !api::is_true(before.conditions, "Stalled");
  if (after.phase != before.phase || is_stuck) record(is_bad || is_stuck, after.reason, after.message);
}

}  // namespace gpupool::controllers
