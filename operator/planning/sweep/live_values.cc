// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/live_values.h"

#include <vector>

#include "api/live_metrics_format.h"

namespace gpupool::planning {
namespace {

namespace live = api::live_metrics;

constexpr std::size_t kNumbersOfStep = 3;  // last, least, greatest

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

std::size_t place_of(const api::SweepObjective& objective) {
  if (objective.take == api::sweep_take::kLast) return 0;
  return objective.goal == api::sweep_goal::kMinimize ? 1 : 2;
}

}  // namespace

std::optional<RungValues> parse_live_values(std::string_view answer, const api::SweepObjective& objective) {
  if (!answer.starts_with(live::kGreeting) || !answer.ends_with('\n')) return std::nullopt;
  answer.remove_prefix(live::kGreeting.size());
  RungValues values;
  for (const auto line : split(answer, '\n')) {
    const auto words = split(line, ' ');
    if (words.empty() || words.front() != objective.metric) continue;
    for (auto i = 1 + place_of(objective); i < words.size() && values.size() < live::kMaxSteps;
         i += kNumbersOfStep)
      values.push_back(rung_value(words[i]));
    break;
  }
  return values;
}

void add_values(RungValues& known, const RungValues& values) {
  for (auto i = known.size(); i < values.size(); ++i) known.push_back(values[i]);
}

}  // namespace gpupool::planning
