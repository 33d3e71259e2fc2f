// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_sweep.h"
#include "screen/table.h"
#include "sweeps/seen_trials.h"

namespace gpupool::sweeps {

// A row for each trial: state, value of the objective, parameters, other metrics. Columns that are empty for
// all are left out.
screen::Table trial_table(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials);
// The same for a spreadsheet (RFC 4180): all columns, with a header.
std::string trial_csv(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials);
// For -o json. One trial alone has kind SweepTrial, several are the items of SweepTrials.
std::string trial_json(const api::GpuSweep& sweep, const SeenTrial& trial);
std::string trials_json(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials);

screen::Colour colour_of_state(const std::string& state);

}  // namespace gpupool::sweeps
