#pragma once

#include "base/clock.h"

namespace gpupool::base {

// A rate limit with bursts. Not thread-safe: the owner locks.
class TokenBucket {
 public:
  // rate in tokens a second (> 0), burst in tokens (>= 1). Starts full.
  TokenBucket(double rate, double burst);

  // Takes one token, now or in the future; returns how long to wait for it (zero: take it at once).
  Duration reserve(SteadyTime now);

 private:
  double rate_;
  double burst_;
  double tokens_;
  SteadyTime last_{};
  bool started_ = false;
};

}  // namespace gpupool::base
