// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {

// What one tenant holds, and has used: the integral of what it held, which decays with a half-life. Integers
// only. The decay happens at fixed times, every 1024th of the half-life since 1970, so the numbers depend on
// what was held and when, and not on when they were read. A clock that goes back stands still. Not
// thread-safe.
class TenantUsage {
 public:
  // REQUIRES: 3600 <= half_life_seconds <= 31536000.
  TenantUsage(std::int64_t half_life_seconds, base::WallTime now);

  // From now on the tenant holds so much more. more: negative if it gives back.
  void add_held(MilliGpus more, base::WallTime now);
  MilliGpus held() const { return held_; }

  // Milli-GPU-seconds, decayed to now.
  std::int64_t used(base::WallTime now);
  // Sets what had been used by then, as used() said. REQUIRES: nothing was held before.
  void restore(std::int64_t used, base::WallTime then);
  // The recent average of what was held: recent use counts more, by the half-life.
  MilliGpus average_held(base::WallTime now);

 private:
  void advance(base::WallTime now);

  std::int64_t tick_ms_;        // between two decays
  std::int64_t at_ms_;          // up to here all is in used_ and recent_
  std::int64_t used_ = 0;       // milli-GPU-seconds up to the last decay, decayed
  std::int64_t recent_ms_ = 0;  // milli-GPU-milliseconds since then
  MilliGpus held_ = 0;
};

}  // namespace gpupool::planning
