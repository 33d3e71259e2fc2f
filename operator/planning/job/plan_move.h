// SPDX-License-Identifier: Apache-2.0
// Restarts a running job because somebody has asked for it (annotation api::kRestart). Pure.
#pragma once

#include <optional>

#include "api/v1alpha1/problem.h"
#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Ends the attempt and begins the next one, with the spec as it is now: on the same nodes, or through the
// queue if the spec names other nodes or wants other GPUs. Nothing: nobody has asked, or it cannot be done
// (why_not_restarted).
std::optional<Step> restart_as_asked(const Observation& seen);

// Why a restart that somebody has asked for is not done: the spec as it is now cannot run. Nothing if it is
// done, or nobody has asked.
std::optional<api::Problem> why_not_restarted(const Observation& seen);

// Time after which the server can be asked whether it accepts the pods of a restart that somebody has asked
// for; nothing if it need not be.
std::optional<base::Duration> until_restart_is_tried(const Observation& seen);

// Notes in the status that workers which start now have the spec as it was when somebody asked.
void accept_restart(const api::GpuJob& job, api::GpuJobStatus& status);

}  // namespace gpupool::planning
