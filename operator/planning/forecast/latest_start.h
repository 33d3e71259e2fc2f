// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

struct LatestStart {
  std::optional<base::WallTime> at;   // nothing: not known
  std::int64_t without_deadline = 0;  // jobs that the asker may wait for and that have no deadline
  bool cut = false;                   // the budget did not suffice
};

// Returns when the asker starts at the latest. True whenever the jobs before it end, and wherever they are
// placed, if each that holds nodes or waits before it ends by its deadline, none with a higher priority
// comes, and no node is lost. Jobs that can never run are not waited for. Pure.
//
// A run of the queue with the longest times gives no such bound: a job that ends early may let the next one
// choose a node that only the asker can use. So placements are not followed. A job starts as soon as all
// before it have started and, however these are placed, enough nodes are left.
//
// REQUIRES: !queue.granted.
LatestStart latest_start(const QueueSnapshot& queue, base::WallTime now, Budget& budget);

}  // namespace gpupool::planning
