// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace gpupool::base {

// A rate limit with bursts. Not thread-safe: the owner locks.
class TokenBucket {
 public:
  // rate: tokens per second (> 0). burst: tokens (>= 1). Starts full.
  TokenBucket(double rate, double burst);

  // Takes one token, possibly a future one. Returns how long to wait for it; zero: not at all.
  Duration reserve(SteadyTime now);

 private:
  double rate_;
  double burst_;
  double tokens_;
  SteadyTime last_{};
  bool started_ = false;
};

}  // namespace gpupool::base
