// SPDX-License-Identifier: Apache-2.0
// The numbers that a program has reported go into the status with the outcome of its attempt.
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Adds status.metrics to a step that writes the outcome of an attempt; leaves any other step as it is. Costs
// no write of its own. The result of a worker is data of a tenant: only names of spec.metrics and valid
// numbers are taken. A job that succeeds without one of its metrics is told so in its message.
//
// REQUIRES: `step` was planned for `seen`.
Step record_metrics(const Observation& seen, Step step);

}  // namespace gpupool::planning
