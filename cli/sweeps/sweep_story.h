// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_sweep.h"
#include "base/clock.h"
#include "screen/terminal.h"
#include "sweeps/seen_trials.h"

namespace gpupool::sweeps {

// How far a sweep is: its state, a plot of the values, the best trials, the last failures.
std::string sweep_text(const api::GpuSweep& sweep, const SeenTrials& seen, base::WallTime now,
                       const screen::Terminal& terminal);

// One trial with its parameters and numbers.
std::string trial_text(const api::GpuSweep& sweep, const SeenTrials& seen, const SeenTrial& trial,
                       const screen::Terminal& terminal);

}  // namespace gpupool::sweeps
