// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/token_bucket.h"

namespace gpupool::web {

// How often one address may ask, before anything is asked of the API server. Thread-safe.
class RateLimit {
 public:
  explicit RateLimit(base::Clock& clock) : clock_(clock) {}

  // True if a request of this address may be answered now.
  bool allows(const std::string& address);

 private:
  static constexpr double kPerSecond = 20;
  static constexpr double kBurst = 100;
  static constexpr std::size_t kMostAddresses = 4096;  // beyond, all begin anew

  base::Clock& clock_;
  base::Mutex mutex_;
  std::map<std::string, base::TokenBucket> buckets_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::web
