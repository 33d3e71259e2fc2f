// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/fair/engine/engine.h"

namespace gpupool::bench::fair {

struct Figure {
  std::string name;
  double value;
  std::string unit;
};

// What an outcome comes to, in the order of the table. Times from arrival to end ("completion"), and not held
// ("wait", all waits of a job together), are in hours. Slowdown counts run times below 10 minutes as 10
// minutes. Contested windows are those in which more was asked for than there is. "lost" is what was held
// beyond the jobs' run times: work done again, and restarts. "past bound": jobs that held GPUs for longer
// than they declared, because of that; a deadline which counts lost work would have ended them.
std::vector<Figure> figures_of(const Workload& workload, const Outcome& outcome);

}  // namespace gpupool::bench::fair
