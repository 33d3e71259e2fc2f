// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/trial_result.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "api/v1alpha1/last_lines.h"
#include "api/v1alpha1/reasons.h"
#include "base/join.h"

namespace gpupool::planning {
namespace {

namespace state = api::trial_state;
constexpr std::string_view kStates = "SFNXD";

constexpr char kNoValueText[] = "-";  // where rungs follow
constexpr char kNotFinite[] = "NaN";
constexpr int kRungDigits = 5;

RungValues parse_rungs(std::string_view text) {
  RungValues values;
  while (!text.empty()) {
    const auto comma = text.find(',');
    values.push_back(rung_value(text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return values;
}

std::optional<std::pair<std::int64_t, TrialResult>> parse_result(std::string_view text) {
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || index < 0 || text.size() < 2 || text.front() != ' ') return std::nullopt;
  TrialResult result{text[1], ""};
  text.remove_prefix(2);
  if (kStates.find(result.state) == std::string_view::npos) return std::nullopt;
  if (text.empty()) return std::pair{index, result};
  if (text.front() != ' ') return std::nullopt;
  text.remove_prefix(1);
  const auto space = text.find(' ');
  result.value = text.substr(0, space);
  if (result.value == kNoValueText) result.value.clear();
  if (space != std::string_view::npos) result.rungs = parse_rungs(text.substr(space + 1));
  return std::pair{index, result};
}

std::string rungs_text(const RungValues& values) {
  std::string text;
  for (const auto value : values) text += (text.empty() ? "" : ",") + rung_text(value);
  return text;
}

// The text of the metric that the objective takes; empty if there is none.
std::string taken_value(const api::JobMetric& metric, const api::SweepObjective& objective) {
  if (objective.take == api::sweep_take::kLast) return metric.last;
  return objective.goal == api::sweep_goal::kMinimize ? metric.least : metric.greatest;
}

std::string why_missing(const api::JobMetricsStatus* metrics, const std::string& name, bool came) {
  if (metrics == nullptr) return "no metric came";
  if (came) return "metric " + name + " was not a finite number";
  auto text = "metric " + name + " never came";
  if (!metrics->other_names.empty())
    text += "; numbers that came instead: " + base::join(metrics->other_names, ", ");
  return text;
}

}  // namespace

bool has_failed(const TrialResult& result) {
  return result.state == state::kFailed || result.state == state::kNoValue || result.state == state::kDeleted;
}

TrialResults parse_results(const std::vector<std::string>& texts) {
  TrialResults results;
  for (const auto& text : texts) {
    if (auto result = parse_result(text)) results.insert(*std::move(result));
  }
  return results;
}

std::vector<std::string> result_texts(const TrialResults& results) {
  std::vector<std::string> texts;
  texts.reserve(results.size());
  for (const auto& [index, result] : results) {
    texts.push_back(std::to_string(index) + ' ' + result.state);
    if (!result.value.empty()) texts.back() += ' ' + result.value;
    if (result.rungs.empty()) continue;
    if (result.value.empty()) texts.back() += std::string(" ") + kNoValueText;
    texts.back() += ' ' + rungs_text(result.rungs);
  }
  return texts;
}

JudgedTrial judge_trial(const api::GpuJob& job, const api::SweepObjective* objective) {
  const auto& status = job.status;
  if (status.phase != api::phase::kSucceeded) {
    return {{state::kFailed, ""}, status.reason, std::string(api::without_last_lines(status.message))};
  }
  if (objective == nullptr) return {};
  const auto* const metrics = status.metrics ? &*status.metrics : nullptr;
  const api::JobMetric* metric = nullptr;
  if (metrics != nullptr) {
    const auto found = std::ranges::find(metrics->values, objective->metric, &api::JobMetric::name);
    if (found != metrics->values.end()) metric = &*found;
  }
  const auto value = metric == nullptr ? std::string() : taken_value(*metric, *objective);
  if (finite_number(value)) return {{state::kSucceeded, value}, "", ""};
  if (objective->missing == api::sweep_missing::kIgnore) return {};
  return {{state::kNoValue, ""},
          api::reason::kMetricMissing,
          why_missing(metrics, objective->metric, metric != nullptr)};
}

std::string rung_text(double value) {
  if (!std::isfinite(value)) return kNotFinite;
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), "%.*g", kRungDigits, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

double rung_value(std::string_view text) {
  const auto number = finite_number(text);
  if (!number) return std::numeric_limits<double>::quiet_NaN();
  return finite_number(rung_text(*number)).value_or(*number);
}

std::optional<double> finite_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool is_better(double a, double b, const api::SweepObjective& objective) {
  return objective.goal == api::sweep_goal::kMinimize ? a < b : a > b;
}

bool reaches_target(const TrialResult& result, const api::SweepObjective* objective) {
  if (objective == nullptr || result.state != state::kSucceeded) return false;
  const auto target = finite_number(objective->target);
  const auto value = finite_number(result.value);
  return target && value && !is_better(*target, *value, *objective);
}

}  // namespace gpupool::planning
