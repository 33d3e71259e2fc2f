// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace gpupool::launcher {

// The clock for waits: it does not jump when the time is set.
using Clock = std::chrono::steady_clock;

// For poll(2): never negative, at most as long as it can wait.
inline int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace gpupool::launcher
