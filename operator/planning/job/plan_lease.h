// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// The next step of a lease that has no workers.
//
//   plan_taking      Taking: takes the nodes; creates the workers of a single node at once, else writes Held
//   plan_held        Held: creates the children, then writes Running
//   plan_restarting  Restarting: waits for the end of the old workers, replaces the lease value on the nodes,
//                    waits until not_before, then writes Held
Step plan_taking(const Observation& seen);
Step plan_held(const Observation& seen);
Step plan_restarting(const Observation& seen);

}  // namespace gpupool::planning
