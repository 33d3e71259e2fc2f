// SPDX-License-Identifier: Apache-2.0
// What the views of all workers of an attempt say together. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::planning {

using WorkerViews = std::vector<WorkerView>;

inline constexpr base::Duration kClockSkew = std::chrono::seconds(5);

std::int64_t count(const WorkerViews& views, WorkerState wanted);
// The functions below return a pointer into `views`; null if there is none.
const WorkerView* first(const WorkerViews& views, WorkerState wanted);
// Returns the crash that is taken for the cause of the others: the earliest by the times of the launchers. If
// it looks like a consequence (WorkerView::follows), the earliest of those that do not, if that one ended at
// most kClockSkew later: the times are of different machines.
const WorkerView* first_crash(const WorkerViews& views);
// Prefers a loss with a known cause; another one may follow from it.
const WorkerView* first_loss(const WorkerViews& views);
// Returns "rank 3 exited with code 1".
std::string of_rank(const WorkerView& view);

}  // namespace gpupool::planning
