// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace gpupool::health {

// How one GPU is. Slices have no health of their own.
struct GpuHealth {
  bool healthy = true;
  bool until_reset = false;   // only a reloaded driver or a reset GPU ends it
  std::string reason = {};    // "Xid79", "Lost", "ProbeFailed", "ResetNeeded", "DriverGone"
  std::string detail = {};    // for people
  base::WallTime since = {};  // of the present state
  std::int64_t clean_probes = 0;
  base::WallTime last_trouble = {};
  // It was off the bus, or the driver asked for a reset: when it answers again, it was reset.
  bool seen_down = false;
  bool operator==(const GpuHealth&) const = default;
};

}  // namespace gpupool::health
