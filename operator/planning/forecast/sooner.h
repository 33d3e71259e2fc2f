// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

// Returns changes with which the asker would get nodes at once, at its place in the queue: fewer GPUs or
// slices, no required group of nodes, or another pool. others: other pools in which the job is valid, with
// the asker in their line. Pure. REQUIRES: !queue.granted.
std::vector<std::string> what_starts_now(const QueueSnapshot& queue, const std::vector<QueueSnapshot>& others,
                                         Budget& budget);

}  // namespace gpupool::planning
