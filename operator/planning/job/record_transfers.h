// SPDX-License-Identifier: Apache-2.0
// What became of spec.source and spec.results goes into the status with writes that happen anyway.
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Adds status.source to a step that writes that the workers run or how an attempt ended, and status.results
// to one that writes how an attempt ended or that the nodes are given back; leaves any other step as it is. A
// job that succeeds with incomplete results is told so in its message.
//
// REQUIRES: `step` was planned for `seen`.
Step record_transfers(const Observation& seen, Step step);

}  // namespace gpupool::planning
