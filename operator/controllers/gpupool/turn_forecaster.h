// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/pace.h"
#include "controllers/queue/pool_queue.h"
#include "planning/forecast/run_times.h"

namespace gpupool::controllers {

// Tells the first jobs of each queue their place and likely start, at most every 30 s for a pool. Works only
// in pools with spec.queue in which jobs wait. Writes nothing: jobs whose answer changes are woken. Not
// thread-safe: one reconcile thread.
class TurnForecaster {
 public:
  // queue, clock: outlive this.
  TurnForecaster(PoolQueue& queue, base::Clock& clock, planning::RunTimes::Source history);

  // Returns when to call this again although nothing changes; nothing: no need.
  std::optional<base::Duration> update(const std::string& pool);

 private:
  PoolQueue& queue_;
  base::Clock& clock_;
  planning::RunTimes::Source history_;
  base::Pace pace_;  // by pool
};

}  // namespace gpupool::controllers
