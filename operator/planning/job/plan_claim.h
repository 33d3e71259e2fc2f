// SPDX-License-Identifier: Apache-2.0
// A job gets nodes that others hold: they make room for it (docs/protocol.md#before-step-2-a-claim). Pure.
#pragma once

#include <optional>

#include "planning/job/observation.h"
#include "planning/job/step.h"
#include "planning/queue/verdict.h"

namespace gpupool::planning {

// Returns the status write that begins Awaiting. REQUIRES: status.lease has the nodes; verdict.claim is set.
Step begin_claim(const Observation& seen, api::GpuJobStatus status, const Verdict& verdict);

// The next step of a lease in Awaiting. Nothing of it is on a node, so it ends with one status write: it
// becomes Taking when no other job holds its nodes, or is given up.
Step plan_awaiting(const Observation& seen);

// For a job with workers: gives its nodes back if it has to make room for another job.
std::optional<Step> make_room(const Observation& seen);

}  // namespace gpupool::planning
