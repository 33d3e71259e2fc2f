// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_sweep.h"

namespace gpupool::planning {

// Values of the objective at the rungs that a trial has reached, in order (planning/sweep/asha.h). NaN: it
// was not finite. Rounded by rung_value.
using RungValues = std::vector<double>;

// How a trial ended.
struct TrialResult {
  char state = api::trial_state::kSucceeded;
  std::string value;  // of the objective; empty: none
  RungValues rungs = {};
  bool operator==(const TrialResult&) const = default;
};
using TrialResults = std::map<std::int64_t, TrialResult>;

// True if it counts in counts.failed.
bool has_failed(const TrialResult& result);

// Between results and their texts in the status. A text that is none is left out.
TrialResults parse_results(const std::vector<std::string>& texts);
std::vector<std::string> result_texts(const TrialResults& results);

struct JudgedTrial {
  TrialResult result;
  std::string reason;  // empty unless it has failed
  std::string message;
};
// Returns how the job of a trial ended. objective: null if there is none. REQUIRES: job.finished().
JudgedTrial judge_trial(const api::GpuJob& job, const api::SweepObjective* objective);

// The text of a value of a rung: five digits, or NaN.
std::string rung_text(double value);
// Returns the number of a text, rounded as rung_text does; NaN if it is no finite number.
double rung_value(std::string_view text);

// Returns the number; nothing if the text is no finite number.
std::optional<double> finite_number(std::string_view text);
// True if the value a is better than b. REQUIRES: both are finite numbers.
bool is_better(double a, double b, const api::SweepObjective& objective);
// True if a result has reached the target of the objective.
bool reaches_target(const TrialResult& result, const api::SweepObjective* objective);

}  // namespace gpupool::planning
