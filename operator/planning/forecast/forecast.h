// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "planning/forecast/estimates.h"
#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

struct LikelyStart {
  std::optional<base::WallTime> from;  // nothing: not known
  std::optional<base::WallTime> to;
  std::int64_t samples = 0;     // number of ended jobs that it is based on
  bool used_deadlines = false;  // some jobs had no history, and their deadlines were used
  bool cut = false;             // the budget did not suffice
};

// Runs the plan of the queue forward, with early, usual and late ends of the jobs that hold nodes and of
// those before the asker, and returns the first and the last of the starts. Not known if one of the runs does
// not reach the start, because a job has neither history nor deadline. Pure. REQUIRES: !queue.granted.
LikelyStart likely_start(const QueueSnapshot& queue, const RunTimes::ByKind& history, base::WallTime now,
                         Budget& budget);

}  // namespace gpupool::planning
