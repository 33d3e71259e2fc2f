// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Ends the job if the source of one of its workers cannot be fetched, or the attempt if a server did not
// answer until the time-out, or if two ranks got different bytes. Nothing if all is well so far.
std::optional<Step> check_source(const Observation& seen);

}  // namespace gpupool::planning
