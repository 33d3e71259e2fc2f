// SPDX-License-Identifier: Apache-2.0
#include "launcher/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "api/worker_result_format.h"

namespace gpupool::launcher {
namespace {

namespace format = api::worker_result;

constexpr std::size_t kMaxLineValues = 256;  // of one line
constexpr double kMaxStep = 1e15;            // below, doubles are exact

std::optional<std::int64_t> whole(double number) {
  if (!(std::abs(number) < kMaxStep) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

void add_word(std::string& text, std::string_view word) {
  text += ' ';
  text += word;
}

void add_number(std::string& text, double number) {
  if (std::isnan(number)) return add_word(text, "NaN");
  if (std::isinf(number)) return add_word(text, number > 0 ? "Infinity" : "-Infinity");
  std::array<char, 32> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.*g", format::kMetricDigits, number);
  add_word(text, {digits.data(), static_cast<std::size_t>(length)});
}

}  // namespace

Metrics::Metrics(std::vector<std::string> names, std::string step_name, std::vector<std::int64_t> live_steps)
    : step_name_(std::move(step_name)), live_steps_(std::move(live_steps)) {
  for (std::string& name : names) {
    if (name.empty()) continue;
    ends_[static_cast<unsigned char>(name.back())] = true;
    series_.push_back({});
    series_.back().name = std::move(name);
  }
  if (!step_name_.empty()) ends_[static_cast<unsigned char>(step_name_.back())] = true;
  curious_ = !series_.empty();
}

void Metrics::add(std::string_view name, double value) {
  if (name == step_name_ && !name.empty()) {
    if (const std::optional<std::int64_t> step = whole(value)) line_step_ = step;
  }
  const auto found = std::ranges::find(series_, name, &Series::name);
  if (found != series_.end()) {
    if (line_.size() < kMaxLineValues)
      line_.emplace_back(static_cast<std::size_t>(found - series_.begin()), value);
  } else if (curious_ && name != step_name_) {
    note_other(name);
  }
}

void Metrics::end_line() {
  if (line_step_) step_ = line_step_;
  for (const auto& [index, value] : line_) add_to(series_[index], {value, step_});
  if (!line_.empty() && curious_) curious_ = some_missing() && others_.size() < format::kMaxOtherMetrics;
  drop_line();
}

void Metrics::drop_line() {
  line_.clear();
  line_step_.reset();
}

void Metrics::note_other(std::string_view name) {
  if (name.size() > format::kMaxMetricNameBytes) return;
  if (std::ranges::find(others_, name) != others_.end()) return;
  others_.emplace_back(name);
  if (others_.size() >= format::kMaxOtherMetrics) curious_ = false;
}

void Metrics::add_to(Series& series, const Value& value) const {
  ++series.count;
  series.last = value;
  if (!std::isfinite(value.value)) {
    ++series.not_finite;
  } else {
    if (!series.least || value.value < series.least->value) series.least = value;
    if (!series.greatest || value.value > series.greatest->value) series.greatest = value;
  }
  const std::int64_t step = value.step.value_or(series.count);
  const auto number = [](const std::optional<Value>& of) {
    return of ? std::optional(of->value) : std::nullopt;
  };
  while (series.live.size() < live_steps_.size() && step >= live_steps_[series.live.size()])
    series.live.push_back({value.value, number(series.least), number(series.greatest)});
}

bool Metrics::some_missing() const {
  return std::ranges::any_of(series_, [](const Series& series) { return series.count == 0; });
}

std::vector<std::string> Metrics::texts(std::size_t limit) const {
  const auto add = [](std::string& text, const std::optional<Value>& value) {
    if (value) {
      add_number(text, value->value);
    } else {
      add_word(text, format::kMetricNone);
    }
    add_word(text, value && value->step ? std::to_string(*value->step) : std::string(format::kMetricNone));
  };
  constexpr std::size_t kAround = 3;  // quotes and comma
  std::vector<std::string> texts;
  std::size_t size = 0;
  for (const Series& series : series_) {
    if (series.count == 0) continue;
    std::string text = series.name;
    add(text, series.last);
    add(text, series.least);
    add(text, series.greatest);
    add_word(text, std::to_string(series.count));
    add_word(text, std::to_string(series.not_finite));
    size += text.size() + kAround;
    if (size > limit) break;
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> Metrics::live_texts() const {
  const auto add = [](std::string& text, const std::optional<double>& number) {
    if (number) {
      add_number(text, *number);
    } else {
      add_word(text, format::kMetricNone);
    }
  };
  std::vector<std::string> texts;
  for (const Series& series : series_) {
    if (series.live.empty()) continue;
    std::string text = series.name;
    for (const LiveValue& value : series.live) {
      add_number(text, value.last);
      add(text, value.least);
      add(text, value.greatest);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> Metrics::others() const {
  return some_missing() ? others_ : std::vector<std::string>();
}

}  // namespace gpupool::launcher
