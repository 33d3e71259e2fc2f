// SPDX-License-Identifier: Apache-2.0
// What a job holds, of whom, since when and at which price goes into the status with the writes that begin
// and end it (docs/billing.md).
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Updates status.bill in a step that writes the status of a job with a priced lease; leaves any other step as
// it is. Costs no write of its own. A lease is billed at the prices that its pool had when it began; a node
// that joins it later costs at most as much as its most expensive node.
//
// Time begins when all nodes are held (Held); of one node, which is taken and used in one go, when its worker
// was created. It ends when Releasing is written, or with the last command if all have ended before; for a
// node that is lost, when the operator saw it not ready first. Times never run backwards.
//
// REQUIRES: `step` was planned for `seen`.
Step record_bill(const Observation& seen, Step step);

}  // namespace gpupool::planning
