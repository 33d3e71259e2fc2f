// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace gpupool::base {

// Exponential backoff with jitter. Not thread-safe.
class Backoff {
 public:
  struct Limits {
    Duration initial;
    double factor = 2.0;
    Duration cap;
    double jitter = 0.0;        // a delay d becomes a random one in [d, d * (1 + jitter))
    Duration reset_after = {};  // a failure this long after the last one starts at `initial`; zero: never
  };

  Backoff(Limits limits, std::uint64_t seed);

  // The delay before the next try. now: the time of the failure.
  Duration next(SteadyTime now);
  void reset();

 private:
  Limits limits_;
  std::uint64_t random_;
  Duration delay_{};
  SteadyTime last_failure_{};
  bool failed_before_ = false;
};

}  // namespace gpupool::base
