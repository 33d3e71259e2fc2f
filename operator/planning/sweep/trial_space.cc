// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/trial_space.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "planning/sweep/random_draw.h"

namespace gpupool::planning {
namespace {

constexpr auto kEndless = std::numeric_limits<std::int64_t>::max();
// So many draws in a row that all have been drawn before: there is nothing else.
constexpr int kMostRepeats = 100'000;

double number_of(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string value_at(const api::SweepParameter& parameter, std::int64_t index) {
  if (parameter.integers) return std::to_string(parameter.integers->min + index);
  return parameter.values[static_cast<std::size_t>(index)];
}

std::string draw_value(const api::SweepParameter& parameter, std::int64_t seed, std::uint64_t draw) {
  const auto unit = unit_draw(seed, draw, parameter.name);
  if (parameter.uniform)
    return uniform_value(unit, number_of(parameter.uniform->min), number_of(parameter.uniform->max));
  if (parameter.log_uniform) {
    return log_uniform_value(unit, number_of(parameter.log_uniform->min),
                             number_of(parameter.log_uniform->max));
  }
  return value_at(parameter, integer_value(unit, 0, value_count(parameter) - 1));
}

std::vector<std::string> grid_point(const api::GpuSweepSpec& spec, std::int64_t index) {
  std::vector<std::string> values(spec.parameters.size());
  for (auto i = values.size(); i-- > 0;) {
    const auto count = value_count(spec.parameters[i]);
    values[i] = value_at(spec.parameters[i], index % count);
    index /= count;
  }
  return values;
}

}  // namespace

std::int64_t value_count(const api::SweepParameter& parameter) {
  if (parameter.uniform || parameter.log_uniform) return kEndless;
  if (parameter.integers) return parameter.integers->max - parameter.integers->min + 1;
  return static_cast<std::int64_t>(parameter.values.size());
}

std::int64_t combination_count(const api::GpuSweepSpec& spec) {
  std::int64_t all = 1;
  for (const auto& parameter : spec.parameters) {
    const auto count = value_count(parameter);
    if (count <= 0) return 0;
    all = all > kEndless / count ? kEndless : all * count;
  }
  return all;
}

TrialSpace::TrialSpace(const api::GpuSweepSpec& spec) {
  for (const auto& parameter : spec.parameters) names_.push_back(parameter.name);
  const auto combinations = combination_count(spec);
  if (!spec.search.list.empty()) {
    const auto count = spec.parameters.empty() ? 0 : value_count(spec.parameters.front());
    for (std::int64_t i = 0; i < count; ++i) {
      Values values;
      for (const auto& parameter : spec.parameters) values.push_back(value_at(parameter, i));
      trials_.push_back(std::move(values));
    }
    return;
  }
  const auto wanted = spec.search.random ? spec.search.random->trials : combinations;
  if (combinations <= wanted) {
    for (std::int64_t i = 0; i < combinations; ++i) trials_.push_back(grid_point(spec, i));
    exhausted_ = combinations < wanted;
    return;
  }
  std::set<Values> drawn;
  int repeats = 0;
  for (std::uint64_t draw = 0; size() < wanted && repeats < kMostRepeats; ++draw) {
    Values values;
    for (const auto& parameter : spec.parameters)
      values.push_back(draw_value(parameter, spec.search.random->seed, draw));
    const bool is_new = drawn.insert(values).second;
    repeats = is_new ? 0 : repeats + 1;
    if (is_new) trials_.push_back(std::move(values));
  }
  exhausted_ = size() < wanted;
}

TrialParameters TrialSpace::parameters(std::int64_t trial) const {
  const auto& values = trials_.at(static_cast<std::size_t>(trial));
  TrialParameters parameters;
  for (std::size_t i = 0; i < names_.size(); ++i) parameters[names_[i]] = values[i];
  return parameters;
}

}  // namespace gpupool::planning
