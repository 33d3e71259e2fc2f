// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/v1alpha1/problem.h"
#include "planning/job/observation.h"

namespace gpupool::planning {

// Why the job gives back what it holds and waits: spec.suspend, or its account has nothing left. Nothing: it
// goes on.
std::optional<api::Problem> suspension(const Observation& seen);

}  // namespace gpupool::planning
