// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/sweep_status.h"

#include <algorithm>

#include "api/v1alpha1/reasons.h"
#include "planning/sweep/trial_job.h"

namespace gpupool::planning {
namespace {

namespace calm = api::condition_reason;
namespace phase = api::phase;
constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kMaxFailureMessage = 200;
// Bytes of the parameters of the best trial, and of each other one in `top`. With these, a status has at most
// 32 KiB with 1,000 trials.
constexpr std::size_t kMaxBestParameters = 512;
constexpr std::size_t kMaxTopParameters = 128;

TrialParameters shown_parameters(TrialParameters parameters, std::size_t most) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : parameters) bytes += name.size() + value.size();
  return bytes <= most ? std::move(parameters) : TrialParameters();
}

// Best first; of equal values the lower index.
std::vector<std::int64_t> ranking(const TrialResults& results, const api::SweepObjective& objective) {
  std::vector<std::pair<double, std::int64_t>> ranked;
  for (const auto& [index, result] : results) {
    const auto value =
        result.state == api::trial_state::kSucceeded ? finite_number(result.value) : std::nullopt;
    if (value) ranked.emplace_back(*value, index);
  }
  std::ranges::stable_sort(
      ranked, [&](const auto& a, const auto& b) { return is_better(a.first, b.first, objective); });
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < std::min(ranked.size(), kTopTrials); ++i) order.push_back(ranked[i].second);
  return order;
}

TrialParameters parameters_of(const api::GpuSweep& sweep, std::int64_t index, const TrialSpace* space) {
  if (space != nullptr) return space->parameters(index);
  const auto& known = sweep.status;
  if (known.best && known.best->trial == index) return known.best->parameters;
  const auto found = std::ranges::find(known.top, index, &api::SweepTrial::trial);
  return found == known.top.end() ? TrialParameters() : found->parameters;
}

std::string cut(std::string text, std::size_t bytes) {
  if (text.size() > bytes) text.resize(bytes);
  return text;
}

}  // namespace

void show_results(api::GpuSweepStatus& status, const api::GpuSweep& sweep, const TrialResults& results,
                  std::int64_t created, const TrialSpace* space) {
  auto& counts = status.counts;
  if (space != nullptr) counts.total = space->size();
  counts.created = created;
  counts.active = created - static_cast<std::int64_t>(results.size());
  counts.succeeded = counts.failed = counts.stopped = 0;
  for (const auto& [index, result] : results) {
    auto& count = has_failed(result)                           ? counts.failed
                  : result.state == api::trial_state::kStopped ? counts.stopped
                                                               : counts.succeeded;
    ++count;
  }
  status.progress = std::to_string(results.size()) + "/" + std::to_string(counts.total);
  status.results = result_texts(results);
  status.top.clear();
  status.best.reset();
  if (!sweep.spec.objective) return;
  for (const auto index : ranking(results, *sweep.spec.objective)) {
    const auto parameters = parameters_of(sweep, index, space);
    api::SweepTrial trial{index, trial_job_name(sweep.metadata.name, index), results.at(index).value,
                          shown_parameters(parameters, kMaxTopParameters)};
    if (status.top.empty()) {
      status.best = trial;
      status.best->parameters = shown_parameters(parameters, kMaxBestParameters);
    }
    status.top.push_back(std::move(trial));
  }
}

void show_failure(api::GpuSweepStatus& status, std::int64_t trial, const JudgedTrial& judged) {
  status.failures.push_back({trial, judged.reason, cut(judged.message, kMaxFailureMessage)});
  if (status.failures.size() > kShownFailures) status.failures.erase(status.failures.begin());
}

void settle_status(api::GpuSweepStatus& status, std::int64_t generation,
                   const std::optional<api::Problem>& stalled, base::WallTime now) {
  status.observed_generation = generation;
  if (stalled) {
    status.reason = stalled->reason;
    status.message = stalled->message;
  }
  status.message = cut(std::move(status.message), kMaxMessage);
  const bool succeeded = status.phase == phase::kSucceeded;
  const bool failed = status.phase == phase::kFailed;
  const bool suspended = status.phase == phase::kSuspended && !stalled;
  const bool stuck = stalled.has_value() || failed;  // for kstatus, Stalled means failed
  const bool reconciling = status.phase == phase::kRunning && !stuck && status.counts.created == 0;
  const auto set = [&](const char* type, bool value, const std::string& reason, const std::string& message) {
    api::Condition condition;
    condition.type = type;
    condition.status = value ? "True" : "False";
    condition.observed_generation = generation;
    condition.reason = reason;
    condition.message = message;
    api::set_condition(status.conditions, std::move(condition), now);
  };
  const auto& why = status.reason;
  set("Reconciling", reconciling, why, "");
  set("Stalled", stuck, stuck ? why : calm::kNotStalled, stuck ? status.message : "");
  set("Complete", succeeded, succeeded ? why : calm::kNotComplete, succeeded ? status.message : "");
  set("Failed", failed, failed ? why : calm::kNotFailed, failed ? status.message : "");
  set("Suspended", suspended, suspended ? why : calm::kNotSuspended, "");
}

}  // namespace gpupool::planning
