// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// The next step of a job that holds no nodes: queued, invalid, suspended or finished.
Step plan_queued(const Observation& seen);

}  // namespace gpupool::planning
