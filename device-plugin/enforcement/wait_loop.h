// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/latest.h"
#include "base/log.h"
#include "base/metrics.h"
#include "enforcement/container.h"
#include "enforcement/region_store.h"
#include "enforcement/wait_arbiter.h"
#include "inventory/gpu_source.h"

namespace gpupool::enforcement {

// Sees to it that containers that wait for each other's memory do not wait until their time is over: refuses
// one of them. It looks at the regions ten times a second where containers may wait, and only at their heads
// while none does. For one thread; what it refers to outlives it.
class WaitLoop {
 public:
  WaitLoop(const RegionStore& regions, inventory::GpuSource& source,
           const base::Latest<std::vector<Container>>& containers, base::Metrics& metrics,
           const base::Log& log);

  // Calls step() until stop is requested.
  void run(base::Clock& clock, const std::stop_token& stop);
  // One look. Returns whether containers may wait at all.
  bool step();

 private:
  std::optional<Refusal> deadlocked(const std::vector<Container>& containers);

  const RegionStore& regions_;
  inventory::GpuSource& source_;
  const base::Latest<std::vector<Container>>& containers_;
  base::Metrics& metrics_;
  base::Log log_;
  std::optional<Refusal> suspect_;
  int looks_ = 0;  // in a row that found `suspect_`
};

}  // namespace gpupool::enforcement
