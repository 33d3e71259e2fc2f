// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// The next step of a lease in the state Releasing.
Step plan_releasing(const Observation& seen);
// The next step for the nodes in lease.lost, in any state of the lease; nothing if there is none.
std::optional<Step> plan_lost_nodes(const Observation& seen);
// For a lease that waits for workers to end: goes on without the nodes whose kubelet has not confirmed the
// end of a deleted pod long after its grace period. They keep their marks until it does. Nothing if there are
// none.
std::optional<Step> leave_stuck_nodes(const Observation& seen);

}  // namespace gpupool::planning
