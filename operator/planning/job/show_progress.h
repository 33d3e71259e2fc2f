// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/job/observation.h"
#include "planning/job/step.h"
#include "planning/job/worker_views.h"

namespace gpupool::planning {

// Phase, reason, message and counts of an attempt whose containers run. A kubelet does not tell whether the
// launcher of a rank above 0 still waits for rank 0, so the message of such a gang says when these ranks
// start.
void set_running(const api::GpuJobSpec& spec, const api::WorkerCounts& workers, api::GpuJobStatus& status);
// Nothing is wrong: writes into the status how far the workers are, if that is new, or waits.
Step show_progress(const Observation& seen, const WorkerViews& views);

}  // namespace gpupool::planning
