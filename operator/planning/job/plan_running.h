// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// The next step of a lease in the state Running.
Step plan_running(const Observation& seen);

}  // namespace gpupool::planning
