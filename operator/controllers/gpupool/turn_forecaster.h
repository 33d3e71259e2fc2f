// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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
  // How long ended jobs have run. Thread-safe.
  using History = std::function<planning::RunTimes::ByKind()>;

  // queue, clock: outlive this.
  TurnForecaster(PoolQueue& queue, base::Clock& clock, History history);

  // Returns when to call this again although nothing changes; nothing: no need.
  std::optional<base::Duration> update(const std::string& pool);

 private:
  PoolQueue& queue_;
  base::Clock& clock_;
  History history_;
  base::Pace pace_;  // by pool
};

}  // namespace gpupool::controllers
