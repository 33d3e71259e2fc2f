// SPDX-License-Identifier: Apache-2.0
// What the workers of an attempt left behind when all of them have ended: the last checkpoint, or a success
// that came before the attempt was stopped. Pure.
#pragma once

#include <optional>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// In Restarting and Releasing, when no worker of the attempt runs any more and before its pods are released:
//
//   all ranks have ended with code 0 before they were told to stop    the job has succeeded
//   they have reported a checkpoint (spec.checkpoint)                 status.checkpoint and history
//
// Returns the write; nothing if the status says it already. The number of the step never goes back: a lower
// one is ignored, with a message.
std::optional<Step> settle_attempt(const Observation& seen);

// True if the pod must stay until settle_attempt() has read its result.
bool awaits_settlement(const Observation& seen, const api::Pod& pod);

// Returns the lease value of the last attempt that began, from the newest pods with a result of it. Empty if
// none of its workers has left one.
std::string value_of_ended_attempt(const Observation& seen);

// Adds status.checkpoint to a step that writes the success of a job with spec.checkpoint; leaves any other
// step as it is.
Step record_last_report(const Observation& seen, Step step);

}  // namespace gpupool::planning
