// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "api/v1alpha1/gpu_sweep.h"
#include "planning/sweep/trial_result.h"

namespace gpupool::planning {

// Asynchronous successive halving, the form that stops trials and pauses none: Li et al., "A System for
// Massively Parallel Hyperparameter Tuning", MLSys 2020.

// Returns the steps at which trials are compared: min, min * eta, min * eta^2, ... below max; none
// unless min is at least 1 and eta at least 2.
std::vector<std::int64_t> rungs_of(const api::SweepAsha& asha);

// Returns the trials to stop: those of `active` whose value at the last rung that they have reached is not
// among the best 1/eta (rounded down, at least one) of all values of that rung. Equal values are equally
// good; a value that is not finite is worse than any other. At a rung with less than eta values nobody is
// stopped. A trial is looked at again whenever others reach its last rung, so the first ones to come do not
// always pass. values: of all trials of the sweep that have reached a rung, whether they run or not. A pure
// function, so a restart of the operator changes no decision.
std::vector<std::int64_t> trials_to_stop(const std::map<std::int64_t, RungValues>& values,
                                         const std::set<std::int64_t>& active, const api::SweepAsha& asha,
                                         const api::SweepObjective& objective);

}  // namespace gpupool::planning
