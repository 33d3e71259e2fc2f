// SPDX-License-Identifier: Apache-2.0
// What device plugins report about workers that use more memory of a GPU than their slices have
// (status.excesses of a GpuNode). A report is believed for pods of this job on the report's own node, by UID:
// the owner of a node can end what runs there anyway, and nothing else. Pure.
#pragma once

#include <optional>
#include <string>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// While workers run: ends the attempt if one of them exceeds its slices and the owner of its node wants such
// workers ended. It counts as a failure of the program, after a read from the server. Nothing if none does.
std::optional<Step> end_excess(const Observation& seen);

// What the status of a running job says about an excess that is only reported; empty if there is none. Once
// said, it stays as it was until the attempt ends: the figures change all the time, and each text is a write.
std::string excess_text(const Observation& seen);

}  // namespace gpupool::planning
