// SPDX-License-Identifier: Apache-2.0
#include "sweeps/seen_trials.h"

#include <algorithm>
#include <map>

#include "planning/sweep/sweep_validation.h"
#include "planning/sweep/trial_job.h"
#include "planning/sweep/trial_result.h"

namespace gpupool::sweeps {
namespace {

namespace state = api::trial_state;

std::string word_of(char letter) {
  switch (letter) {
    case state::kSucceeded:
      return "Succeeded";
    case state::kNoValue:
      return "NoValue";
    case state::kDeleted:
      return "Deleted";
    case state::kStopped:
      return "Stopped";
    default:
      return "Failed";
  }
}

// The pool and the server's field names are not asked for: they do not change which trials there are.
std::string why_unknown(const api::GpuSweep& sweep) {
  if (const auto problem = planning::validate_sweep(sweep, nullptr, {})) return problem->message;
  if (!sweep.status.spec_hash.empty() && sweep.status.spec_hash != api::spec_hash(sweep.spec))
    return "the spec was changed after the sweep had begun";
  return "";
}

}  // namespace

SeenTrials see_trials(const api::GpuSweep& sweep, const std::vector<api::GpuJob>& jobs) {
  SeenTrials seen{{}, why_unknown(sweep)};
  std::map<std::int64_t, const api::GpuJob*> job_of;
  for (const auto& job : jobs) {
    if (const auto trial = planning::trial_of(job, sweep)) job_of[*trial] = &job;
  }
  const auto results = planning::parse_results(sweep.status.results);
  auto total = std::min(sweep.status.counts.total, planning::kMaxTrials);
  if (seen.unknown.empty()) {
    const planning::TrialSpace space(sweep.spec);
    total = space.size();
    for (std::int64_t i = 0; i < total; ++i)
      seen.trials.push_back({.index = i, .parameters = space.parameters(i)});
  } else {
    for (std::int64_t i = 0; i < total; ++i) seen.trials.push_back({.index = i});
  }
  for (auto& trial : seen.trials) {
    trial.job = planning::trial_job_name(sweep.metadata.name, trial.index);
    trial.state = trial.index < sweep.status.counts.created ? "Begun" : "Waiting";
    if (const auto job = job_of.find(trial.index); job != job_of.end()) {
      const auto& status = job->second->status;
      if (!status.phase.empty()) trial.state = status.phase;
      trial.reason = status.reason;
      if (status.metrics) trial.metrics = status.metrics->values;
    }
    if (const auto result = results.find(trial.index); result != results.end()) {
      trial.state = word_of(result->second.state);
      trial.value = result->second.value;
      trial.rungs = result->second.rungs;
    }
  }
  return seen;
}

void sort_by_value(std::vector<SeenTrial>& trials, const api::SweepObjective& objective) {
  std::ranges::stable_sort(trials, [&](const SeenTrial& a, const SeenTrial& b) {
    const auto first = planning::finite_number(a.value);
    const auto second = planning::finite_number(b.value);
    if (!first || !second) return first.has_value() && !second.has_value();
    return planning::is_better(*first, *second, objective);
  });
}

}  // namespace gpupool::sweeps
