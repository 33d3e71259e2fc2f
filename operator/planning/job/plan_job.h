// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Returns the next step of a job: the lease protocol and the worker protocol (docs/protocol.md) as one pure
// function. Called by the job reconciler until it returns a step that waits.
Step plan_job(const Observation& seen);

}  // namespace gpupool::planning
