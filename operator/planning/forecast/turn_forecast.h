// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/forecast/run_times.h"
#include "planning/forecast/snapshot.h"
#include "planning/queue/turn_places.h"
#include "planning/tenants/tenant_book.h"

namespace gpupool::planning {

// A waiting job, and what its entry in the line is made from.
struct Waiter {
  WaitingLine::Job job;
  std::uint64_t arrival = 0;
  std::vector<std::string> avoided;
  Turn turn;
};

// A pool with spec.queue at one moment, as far as it matters to the first jobs of its queue. Made by
// PoolQueue; owned by who runs the forecast.
struct TurnSnapshot {
  struct Holding {
    Holder holder;
    std::string tenant;
    MilliGpus amount = 0;
  };
  std::shared_ptr<const api::GpuPool> pool;
  std::vector<PoolNode> nodes;     // of an exclusive pool, in order of name
  std::vector<SharedNode> shared;  // of a sharing pool, in order of name
  std::vector<Holding> holders;
  std::map<std::string, TenantBook::Share> shares;  // of the tenants of `waiters`
  std::vector<Waiter> waiters;                      // in the order of their turns
  std::optional<api::ObjectKey> first;              // is first in line
};

// Returns the waiters, in their order, with their likely starts. Runs the plan of the queue (TurnPlan,
// SliceTurns) forward: jobs end as jobs of their kind did, else by their deadline. Not known for a job if one
// before it has neither, and if the budget does not suffice. What tenants have used so far counts as
// it is now, and nobody else comes. Ends that are close together, compared with how far ahead they are, are
// taken together: a start is up to a sixteenth late. Pure.
std::vector<Expected> forecast_turns(const TurnSnapshot& queue, const RunTimes::ByKind& history,
                                     base::WallTime now, Budget& budget);

}  // namespace gpupool::planning
