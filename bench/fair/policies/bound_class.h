// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "bench/fair/workload/job.h"

namespace gpupool::bench::fair {

// The bounds that jobs are sorted by, in seconds. A job is treated as if it needed the next larger one.
inline constexpr std::array<Seconds, 15> kBoundClasses{
    60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 345600, 604800};
inline constexpr Seconds kLargestClass = 1209600;

// kNever: larger than all, or none.
inline Seconds bound_class(Seconds bound) {
  const auto* const found = std::ranges::lower_bound(kBoundClasses, bound);
  if (found != kBoundClasses.end()) return *found;
  return bound <= kLargestClass ? kLargestClass : kNever;
}

}  // namespace gpupool::bench::fair
