// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/plan_sweep.h"

#include <algorithm>
#include <map>

#include "api/v1alpha1/reasons.h"
#include "planning/sweep/asha.h"
#include "planning/sweep/sweep_status.h"
#include "planning/sweep/trial_job.h"
#include "planning/sweep/trial_result.h"

namespace gpupool::planning {
namespace {

namespace phase = api::phase;
namespace reason = api::reason;
namespace state = api::trial_state;
using Job = std::shared_ptr<const api::GpuJob>;

// Plans one sweep that has begun and not ended.
class SweepPlanner {
 public:
  explicit SweepPlanner(const SweepObservation& seen)
      : seen_(seen), spec_(seen.sweep.spec), stored_(seen.sweep.status), status_(seen.sweep.status) {
    for (const auto& job : seen.jobs) {
      if (const auto trial = trial_of(*job, seen.sweep)) jobs_[*trial] = job;
    }
    results_ = parse_results(stored_.results);
    changed_ = spec_hash(spec_) != stored_.spec_hash;
  }

  SweepPlan plan() {
    record_results();
    stop_losers();
    count_created();
    const bool ended = end();
    if (!ended) go_on();
    show_results(status_, seen_.sweep, results_, created_, changed_ ? nullptr : seen_.space);
    if (!ended) status_.message = progress_message();
    settle_status(status_, seen_.sweep.metadata.generation, ended ? std::nullopt : stalled(), seen_.now);
    plan_.status = std::move(status_);
    return std::move(plan_);
  }

 private:
  const api::SweepObjective* objective() const { return spec_.objective ? &*spec_.objective : nullptr; }
  std::int64_t total() const {
    return changed_ || seen_.space == nullptr ? stored_.counts.total : seen_.space->size();
  }
  bool is_active(std::int64_t trial) const { return jobs_.contains(trial) && !results_.contains(trial); }

  void record(std::int64_t trial, const JudgedTrial& judged) {
    results_[trial] = judged.result;
    if (const auto live = seen_.live.find(trial); live != seen_.live.end())
      results_[trial].rungs = live->second;
    if (has_failed(judged.result)) show_failure(status_, trial, judged);
  }

  void record_results() {
    for (const auto& [trial, job] : jobs_) {
      if (job->finished() && !results_.contains(trial)) record(trial, judge_trial(*job, objective()));
    }
    for (const auto trial : seen_.taken) {
      if (results_.contains(trial) || jobs_.contains(trial)) continue;
      record(trial, {{state::kFailed, ""},
                     reason::kNameConflict,
                     "there is another GpuJob " + trial_job_name(seen_.sweep.metadata.name, trial)});
    }
    for (const auto trial : seen_.gone) {
      if (results_.contains(trial) || jobs_.contains(trial)) continue;
      record(trial, {{state::kDeleted, ""}, reason::kTrialDeleted, "its GpuJob was deleted before its end"});
    }
  }

  // The jobs go when the server has the results, as those of other trials do.
  void stop_losers() {
    if (!spec_.stopping || !spec_.stopping->asha || objective() == nullptr) return;
    if (spec_.suspend || changed_) return;
    auto values = seen_.live;
    for (const auto& [trial, result] : results_) values[trial] = result.rungs;
    std::set<std::int64_t> active;
    for (const auto& [trial, job] : jobs_) {
      if (is_active(trial) && !job->metadata.deleting()) active.insert(trial);
    }
    for (const auto trial : trials_to_stop(values, active, *spec_.stopping->asha, *objective())) {
      const auto& rungs = values[trial];
      results_[trial] = {state::kStopped, rung_text(rungs.back()), rungs};
    }
  }

  // Only a gapless row counts: a job that is missing above it was never created.
  void count_created() {
    created_ = stored_.counts.created;
    while (jobs_.contains(created_) || results_.contains(created_)) ++created_;
  }

  // Returns true if the sweep ends now.
  bool end() {
    std::int64_t failed = 0;
    std::int64_t succeeded = 0;
    const std::pair<const std::int64_t, TrialResult>* reached = nullptr;
    for (const auto& result : results_) {
      failed += has_failed(result.second) ? 1 : 0;
      succeeded += result.second.state == state::kSucceeded ? 1 : 0;
      if (reached == nullptr && reaches_target(result.second, objective())) reached = &result;
    }
    if (reached != nullptr) {
      end_with(phase::kSucceeded, reason::kTargetReached,
               "trial " + std::to_string(reached->first) + " has reached the target " + objective()->target +
                   " with " + reached->second.value);
    } else if (spec_.max_failed && failed > *spec_.max_failed) {
      end_with(phase::kFailed, reason::kMaxFailedExceeded,
               std::to_string(failed) + " trials failed, more than spec.maxFailed " +
                   std::to_string(*spec_.max_failed) + last_failure());
    } else if (static_cast<std::int64_t>(results_.size()) < total()) {
      return false;
    } else if (succeeded == 0) {
      end_with(phase::kFailed, reason::kNoTrialSucceeded, "no trial succeeded" + last_failure());
    } else {
      end_with(phase::kSucceeded, reason::kCompleted,
               std::to_string(succeeded) + " trials succeeded, " + std::to_string(failed) + " failed" +
                   stopped_early() + exhausted());
    }
    return true;
  }

  void end_with(const char* how, const char* why, std::string message) {
    for (std::int64_t trial = 0; trial < created_; ++trial) {
      if (!results_.contains(trial)) results_[trial] = {state::kStopped, ""};
    }
    for (const auto& [trial, job] : jobs_) {
      if (!results_.contains(trial)) results_[trial] = {state::kStopped, ""};
    }
    count_created();
    status_.phase = how;
    status_.reason = why;
    status_.message = std::move(message);
    status_.completion_time = seen_.now;
  }

  std::string last_failure() const {
    if (status_.failures.empty()) return {};
    const auto& last = status_.failures.back();
    return "; the last of them: trial " + std::to_string(last.trial) + ": " + last.reason + ": " +
           last.message;
  }

  std::string stopped_early() const {
    const auto stopped =
        std::ranges::count(results_, state::kStopped, [](const auto& entry) { return entry.second.state; });
    return stopped == 0 ? "" : ", " + std::to_string(stopped) + " were stopped early";
  }

  std::string exhausted() const {
    if (changed_ || seen_.space == nullptr || !seen_.space->is_exhausted()) return {};
    return "; the parameters have only " + std::to_string(seen_.space->size()) +
           " combinations, so there are no more trials";
  }

  void go_on() {
    status_.phase = spec_.suspend ? phase::kSuspended : phase::kRunning;
    status_.reason = spec_.suspend ? reason::kSuspended : reason::kTrialsRunning;
    for (std::int64_t trial = 0; trial < created_; ++trial) {
      if (!jobs_.contains(trial) && !results_.contains(trial)) plan_.look_up.push_back(trial);
    }
    const bool was_suspended = stored_.phase == phase::kSuspended;
    for (const auto& [trial, job] : jobs_) {
      if (!is_active(trial) || job->metadata.deleting()) continue;
      if (spec_.suspend && !job->spec.suspend) plan_.suspend.push_back(job);
      if (!spec_.suspend && was_suspended && job->spec.suspend) plan_.resume.push_back(job);
    }
    if (!spec_.suspend && !changed_ && !seen_.problem) choose_next();
  }

  void choose_next() {
    auto active = static_cast<std::int64_t>(plan_.look_up.size());
    // A trial that is stopped early makes room when its job is gone.
    for (const auto& [trial, job] : jobs_) active += job->finished() ? 0 : 1;
    for (auto trial = created_; trial < total() && active < spec_.parallel; ++trial) {
      if (jobs_.contains(trial) || results_.contains(trial)) continue;
      plan_.create.push_back(trial);
      ++active;
    }
  }

  std::string progress_message() const {
    const auto& counts = status_.counts;
    return std::to_string(results_.size()) + " of " + std::to_string(counts.total) + " trials have ended, " +
           std::to_string(counts.failed) + " of them failed" +
           (counts.stopped > 0 ? " and " + std::to_string(counts.stopped) + " were stopped early" : "") +
           "; " + std::to_string(counts.active) + " are unfinished" + exhausted() + live_trouble();
  }

  std::string live_trouble() const {
    if (seen_.live_trouble.empty()) return {};
    return "; no trial can be stopped early, because their numbers cannot be read: " + seen_.live_trouble;
  }

  std::optional<api::Problem> stalled() const {
    if (changed_) {
      return api::Problem{reason::kSpecChanged,
                          "search, parameters, objective, keepJobs or job has changed since the sweep began; "
                          "no more trials begin until it is as it was"};
    }
    if (seen_.problem) return seen_.problem;
    for (const auto& [trial, job] : jobs_) {
      if (is_active(trial) && job->status.phase == phase::kInvalid) {
        return api::Problem{job->status.reason,
                            "trial " + std::to_string(trial) + " cannot run: " + job->status.message};
      }
    }
    return std::nullopt;
  }

  const SweepObservation& seen_;
  const api::GpuSweepSpec& spec_;
  const api::GpuSweepStatus& stored_;
  api::GpuSweepStatus status_;
  SweepPlan plan_;
  std::map<std::int64_t, Job> jobs_;
  TrialResults results_;
  std::int64_t created_ = 0;
  bool changed_ = false;
};

bool is_kept(std::int64_t trial, const TrialResult& result, const api::GpuSweep& sweep) {
  const auto& keep = sweep.spec.keep_jobs;
  if (result.state == state::kStopped) return false;
  if (keep == api::keep_jobs::kFailed) return has_failed(result);
  if (keep == api::keep_jobs::kBest) return sweep.status.best && sweep.status.best->trial == trial;
  return keep != api::keep_jobs::kNone;
}

// Of jobs whose result the server has.
std::vector<Job> jobs_to_remove(const SweepObservation& seen) {
  std::vector<Job> remove;
  const auto results = parse_results(seen.sweep.status.results);
  for (const auto& job : seen.jobs) {
    const auto trial = trial_of(*job, seen.sweep);
    const auto result = trial ? results.find(*trial) : results.end();
    if (result == results.end() || job->metadata.deleting()) continue;
    if (!is_kept(*trial, result->second, seen.sweep)) remove.push_back(job);
  }
  return remove;
}

// A sweep of which no trial may have begun.
SweepPlan plan_start(const SweepObservation& seen) {
  SweepPlan plan{.status = seen.sweep.status};
  auto& status = plan.status;
  if (seen.problem || seen.space == nullptr) {
    status.phase = phase::kInvalid;
    settle_status(status, seen.sweep.metadata.generation, seen.problem, seen.now);
    return plan;
  }
  status.phase = seen.sweep.spec.suspend ? phase::kSuspended : phase::kRunning;
  status.reason = seen.sweep.spec.suspend ? reason::kSuspended : reason::kTrialsRunning;
  status.message = std::to_string(seen.space->size()) + " trials are to be run";
  status.spec_hash = api::spec_hash(seen.sweep.spec);
  status.start_time = seen.now;
  show_results(status, seen.sweep, {}, 0, seen.space);
  settle_status(status, seen.sweep.metadata.generation, std::nullopt, seen.now);
  return plan;
}

}  // namespace

SweepPlan plan_sweep(const SweepObservation& seen) {
  if (seen.sweep.status.spec_hash.empty()) return plan_start(seen);
  if (!seen.sweep.finished()) {
    auto plan = SweepPlanner(seen).plan();
    plan.remove = jobs_to_remove(seen);
    return plan;
  }
  SweepPlan plan{.status = seen.sweep.status};
  if (plan.status.observed_generation != seen.sweep.metadata.generation)
    settle_status(plan.status, seen.sweep.metadata.generation, std::nullopt, seen.now);
  plan.remove = jobs_to_remove(seen);
  return plan;
}

}  // namespace gpupool::planning
