// SPDX-License-Identifier: Apache-2.0
// Workers whose command has ended and whose results (spec.results) are still put away. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "planning/job/observation.h"
#include "planning/job/worker_views.h"

namespace gpupool::planning {

// Returns the number of workers of the lease. When they run, the spec may have been edited to another one.
std::int64_t count_of_workers(const Observation& seen);

// Returns the views of all workers of the lease (assess_workers). A worker that still saves results counts as
// running, until timeoutSeconds after the end of its command, and some seconds more, have passed.
WorkerViews views_of_workers(const Observation& seen);

// How long the next of the workers that save results may still take; nothing if none does.
std::optional<base::Duration> until_saved(const WorkerViews& views);

}  // namespace gpupool::planning
