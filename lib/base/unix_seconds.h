// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace gpupool::base {

// Whole seconds since 1970 (UTC), rounded towards 0.
constexpr std::int64_t unix_seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace gpupool::base
