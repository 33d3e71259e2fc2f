// SPDX-License-Identifier: Apache-2.0
#include "base/token_bucket.h"

#include <algorithm>

namespace gpupool::base {

TokenBucket::TokenBucket(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}

Duration TokenBucket::reserve(SteadyTime now) {
  if (started_ && now > last_) {
    const double elapsed = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(burst_, tokens_ + elapsed * rate_);
  }
  if (!started_ || now > last_) last_ = now;
  started_ = true;

  tokens_ -= 1;
  if (tokens_ >= 0) return Duration::zero();
  return std::chrono::ceil<Duration>(std::chrono::duration<double>(-tokens_ / rate_));
}

}  // namespace gpupool::base
