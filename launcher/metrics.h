// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpupool::launcher {

// The numbers that a command reports of itself, by name: last, least and greatest value, each with the step
// at which it came. Memory is bounded whatever is reported. Not thread-safe.
class Metrics {
 public:
  // names: what counts. step_name: whose number is the step of the values on the same and later lines.
  // live_steps: ascending; the values at the first step that is at least each of them are kept, for
  // live_texts(). While no step has come, the count of a number's values is its step.
  Metrics(std::vector<std::string> names, std::string step_name, std::vector<std::int64_t> live_steps = {});

  [[nodiscard]] bool empty() const { return series_.empty(); }

  // False if no number counts whose name ends with this character. A quick check before add().
  [[nodiscard]] bool may_end_name(char last) const {
    return curious_ || ends_[static_cast<unsigned char>(last)];
  }

  // One number of the present line. A value that is not finite is counted apart.
  void add(std::string_view name, double value);
  // The line is over: its values get its step, or the last step before it.
  void end_line();
  // Forgets what add() has got since end_line().
  void drop_line();

  // One text for each name that has come, as lib/api/worker_result_format.h says; together at most `limit`
  // bytes as JSON writes them. Names that do not fit are left out, last first.
  [[nodiscard]] std::vector<std::string> texts(std::size_t limit) const;

  // One text for each name that has reached a live step, as lib/api/live_metrics_format.h says.
  [[nodiscard]] std::vector<std::string> live_texts() const;

  // While a name has never come: other names that had a number, in the order in which they came.
  [[nodiscard]] std::vector<std::string> others() const;

 private:
  struct Value {
    double value = 0;
    std::optional<std::int64_t> step;
  };
  struct LiveValue {
    double last = 0;
    std::optional<double> least;
    std::optional<double> greatest;
  };
  struct Series {
    std::string name;
    std::int64_t count = 0;  // all values
    std::int64_t not_finite = 0;
    Value last;
    std::optional<Value> least;
    std::optional<Value> greatest;
    std::vector<LiveValue> live;  // at the first of live_steps_, the second, and so on
  };

  void note_other(std::string_view name);
  void add_to(Series& series, const Value& value) const;
  [[nodiscard]] bool some_missing() const;

  std::vector<Series> series_;
  std::string step_name_;
  std::vector<std::int64_t> live_steps_;
  std::array<bool, 256> ends_{};
  bool curious_ = true;  // a name is missing, and there is room for others
  std::vector<std::string> others_;
  std::optional<std::int64_t> step_;
  std::vector<std::pair<std::size_t, double>> line_;  // index of the series, value
  std::optional<std::int64_t> line_step_;
};

}  // namespace gpupool::launcher
