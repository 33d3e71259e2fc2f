// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "api/v1alpha1/gpu_sweep.h"
#include "planning/sweep/trial_result.h"

namespace gpupool::planning {

// Returns the values of the objective in what a launcher answers (lib/api/live_metrics_format.h): empty if
// the trial has reached no rung, nothing if the text is no such answer, which another program may have sent.
std::optional<RungValues> parse_live_values(std::string_view answer, const api::SweepObjective& objective);

// Adds the values of rungs that are not known yet. What is known stays: an attempt that begins again tells
// other values.
void add_values(RungValues& known, const RungValues& values);

}  // namespace gpupool::planning
