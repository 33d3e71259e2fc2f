// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/sweep_validation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string>

#include "api/live_metrics_format.h"
#include "api/v1alpha1/reasons.h"
#include "api/worker_result_format.h"
#include "planning/job/job_validation.h"
#include "planning/sweep/asha.h"
#include "planning/sweep/trial_job.h"
#include "planning/sweep/trial_result.h"
#include "planning/sweep/trial_space.h"

namespace gpupool::planning {
namespace {

using MaybeProblem = std::optional<api::Problem>;

constexpr std::int64_t kMaxEta = 100;
constexpr std::int64_t kMaxStep = 2'147'483'647;

api::Problem bad_spec(std::string message) { return {api::reason::kInvalidSpec, std::move(message)}; }

bool is_parameter_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= 63 && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

MaybeProblem check_range(const std::string& field, const api::SweepRange& range, bool is_log) {
  const auto min = finite_number(range.min);
  const auto max = finite_number(range.max);
  if (!min || !max) return bad_spec(field + ": min and max must be numbers, such as \"1e-5\"");
  if (*min >= *max) return bad_spec(field + ": min must be less than max");
  if (!std::isfinite(*max - *min)) return bad_spec(field + ": the range is too large");
  if (is_log && *min <= 0) return bad_spec(field + ": min must be greater than 0");
  return std::nullopt;
}

MaybeProblem check_parameter(const api::SweepParameter& parameter, const api::SweepSearch& search) {
  const auto field = "spec.parameters: " + parameter.name;
  if (!is_parameter_name(parameter.name)) {
    return bad_spec("spec.parameters: the name \"" + parameter.name +
                    "\" must begin with a letter or _, and have only letters, digits and _");
  }
  const int kinds = (parameter.values.empty() ? 0 : 1) + (parameter.integers ? 1 : 0) +
                    (parameter.uniform ? 1 : 0) + (parameter.log_uniform ? 1 : 0);
  if (kinds != 1) return bad_spec(field + " needs exactly one of values, integers, uniform and logUniform");
  if ((parameter.uniform || parameter.log_uniform) && !search.random)
    return bad_spec(field + ": uniform and logUniform are only for spec.search.random");
  if (parameter.uniform) return check_range(field + ".uniform", *parameter.uniform, false);
  if (parameter.log_uniform) return check_range(field + ".logUniform", *parameter.log_uniform, true);
  if (parameter.integers) {
    const auto& range = *parameter.integers;
    if (range.min > range.max) return bad_spec(field + ".integers: min must not be greater than max");
    if (range.min < -kMaxInteger || range.max > kMaxInteger)
      return bad_spec(field + ".integers: must be from -10^15 to 10^15");
  }
  const std::set<std::string> different(parameter.values.begin(), parameter.values.end());
  if (search.list.empty() && different.size() != parameter.values.size())
    return bad_spec(field + ".values has a value twice");
  return std::nullopt;
}

MaybeProblem check_parameters(const api::GpuSweepSpec& spec) {
  if (spec.parameters.empty()) return bad_spec("spec.parameters must not be empty");
  if (spec.parameters.size() > kMaxParameters)
    return bad_spec("spec.parameters must have at most " + std::to_string(kMaxParameters) + " entries");
  std::set<std::string> variables;
  for (const auto& parameter : spec.parameters) {
    if (auto problem = check_parameter(parameter, spec.search)) return problem;
    auto lower = parameter.name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower == "trial") return bad_spec("spec.parameters: the name trial is that of the trial's index");
    if (!variables.insert(lower).second)
      return bad_spec("spec.parameters: the name " + parameter.name + " is used twice (case does not count)");
  }
  return std::nullopt;
}

MaybeProblem check_search(const api::GpuSweepSpec& spec) {
  const auto& search = spec.search;
  const int kinds = (search.grid.empty() ? 0 : 1) + (search.list.empty() ? 0 : 1) + (search.random ? 1 : 0);
  if (kinds > 1) return bad_spec("spec.search must have only one of grid, list and random");
  const auto too_many = [](std::int64_t count) {
    return "; at most " + std::to_string(kMaxTrials) + " trials are possible" +
           (count > 0 ? "; spec.search.random tries some of them" : "");
  };
  if (search.random) {
    if (search.random->trials < 1) return bad_spec("spec.search.random.trials must be at least 1");
    if (search.random->trials > kMaxTrials)
      return bad_spec("spec.search.random.trials is " + std::to_string(search.random->trials) + too_many(0));
    return std::nullopt;
  }
  if (search.list.empty()) {
    const auto count = combination_count(spec);
    if (count <= kMaxTrials) return std::nullopt;
    return bad_spec("spec.parameters have " + std::to_string(count) + " combinations" + too_many(count));
  }
  const auto count = value_count(spec.parameters.front());
  for (const auto& parameter : spec.parameters) {
    if (value_count(parameter) != count) {
      return bad_spec(
          "spec.parameters: with spec.search.list, all parameters must have the same number of "
          "values; " +
          spec.parameters.front().name + " has " + std::to_string(count) + ", " + parameter.name + " has " +
          std::to_string(value_count(parameter)));
    }
  }
  if (count > kMaxTrials) return bad_spec("the list has " + std::to_string(count) + " entries" + too_many(0));
  return std::nullopt;
}

MaybeProblem check_objective(const api::GpuSweepSpec& spec) {
  if (!spec.objective) {
    if (spec.keep_jobs == api::keep_jobs::kBest) return bad_spec("spec.keepJobs Best needs spec.objective");
    return std::nullopt;
  }
  const auto& objective = *spec.objective;
  if (objective.metric.empty()) return bad_spec("spec.objective.metric must not be empty");
  if (objective.goal != api::sweep_goal::kMinimize && objective.goal != api::sweep_goal::kMaximize)
    return bad_spec("spec.objective.goal must be Minimize or Maximize");
  if (objective.take != api::sweep_take::kBest && objective.take != api::sweep_take::kLast)
    return bad_spec("spec.objective.take must be Best or Last");
  if (objective.missing != api::sweep_missing::kFail && objective.missing != api::sweep_missing::kIgnore)
    return bad_spec("spec.objective.missing must be Fail or Ignore");
  if (!objective.target.empty() && !finite_number(objective.target))
    return bad_spec("spec.objective.target must be a number, such as \"0.05\"");
  return std::nullopt;
}

MaybeProblem check_stopping(const api::GpuSweepSpec& spec) {
  if (!spec.stopping) return std::nullopt;
  if (!spec.stopping->asha) return bad_spec("spec.stopping.asha must be set");
  if (!spec.objective) return bad_spec("spec.stopping needs spec.objective, which says who loses");
  const auto& asha = *spec.stopping->asha;
  if (asha.eta < 2 || asha.eta > kMaxEta)
    return bad_spec("spec.stopping.asha.eta must be from 2 to " + std::to_string(kMaxEta));
  if (asha.min < 1) return bad_spec("spec.stopping.asha.min must be at least 1");
  if (asha.max <= asha.min || asha.max > kMaxStep) {
    return bad_spec("spec.stopping.asha.max must be greater than min, and at most " +
                    std::to_string(kMaxStep));
  }
  if (const auto rungs = rungs_of(asha).size(); rungs > api::live_metrics::kMaxSteps) {
    return bad_spec("spec.stopping.asha has " + std::to_string(rungs) + " rungs; at most " +
                    std::to_string(api::live_metrics::kMaxSteps) + " are possible: raise min or eta");
  }
  return std::nullopt;
}

MaybeProblem check_numbers(const api::GpuSweep& sweep) {
  const auto& spec = sweep.spec;
  if (sweep.metadata.name.size() > kMaxSweepName) {
    return bad_spec("metadata.name must have at most " + std::to_string(kMaxSweepName) +
                    " characters, because the names of its jobs are longer");
  }
  if (spec.parallel < 1) return bad_spec("spec.parallel must be at least 1");
  if (spec.max_failed && *spec.max_failed < 0) return bad_spec("spec.maxFailed must not be negative");
  if (spec.keep_jobs != api::keep_jobs::kAll && spec.keep_jobs != api::keep_jobs::kFailed &&
      spec.keep_jobs != api::keep_jobs::kBest && spec.keep_jobs != api::keep_jobs::kNone) {
    return bad_spec("spec.keepJobs must be All, Failed, Best or None");
  }
  return std::nullopt;
}

MaybeProblem check_job(const api::GpuSweep& sweep, const api::GpuPool* pool, const TemplateFields& fields) {
  const auto& spec = sweep.spec;
  if (spec.job.empty()) return bad_spec("spec.job must be set");
  if (spec.job.text == base::json::kTooDeep) return bad_spec("spec.job is nested deeper than 200 levels");
  if (const auto unknown = unknown_job_field(spec); !unknown.empty())
    return bad_spec("spec.job." + unknown + ": unknown field");
  const auto written = base::json::read<api::GpuJobSpec>(spec.job.text);
  if (!written) return bad_spec("spec.job." + written.error().message);
  if (written->suspend) return bad_spec("spec.job.suspend: use spec.suspend of the GpuSweep instead");
  if (spec.stopping && written->metrics && !written->metrics->live_steps.empty())
    return bad_spec("spec.job.metrics.liveSteps: spec.stopping of the GpuSweep sets it");
  if (written->ttl_seconds_after_finished)
    return bad_spec("spec.job.ttlSecondsAfterFinished: use spec.keepJobs of the GpuSweep instead");
  if (auto problem = check_references(spec)) return problem;
  const auto first = base::json::read<api::GpuJob>(trial_job(sweep, 0, TrialSpace(spec).parameters(0)));
  if (!first) return bad_spec("spec.job." + first.error().message);
  if (first->spec.metrics && first->spec.metrics->names.size() > api::worker_result::kMaxMetrics) {
    return bad_spec("spec.job.metrics.names must have at most " +
                    std::to_string(api::worker_result::kMaxMetrics) + " names with that of spec.objective");
  }
  auto problem = validate_job(*first, pool, fields);
  if (problem && problem->message.starts_with("spec."))
    problem->message = "spec.job." + problem->message.substr(5);
  return problem;
}

}  // namespace

MaybeProblem validate_sweep(const api::GpuSweep& sweep, const api::GpuPool* pool,
                            const TemplateFields& fields) {
  if (auto problem = check_numbers(sweep)) return problem;
  if (auto problem = check_parameters(sweep.spec)) return problem;
  if (auto problem = check_search(sweep.spec)) return problem;
  if (auto problem = check_objective(sweep.spec)) return problem;
  if (auto problem = check_stopping(sweep.spec)) return problem;
  return check_job(sweep, pool, fields);
}

}  // namespace gpupool::planning
