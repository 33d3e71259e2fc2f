// SPDX-License-Identifier: Apache-2.0
#include "server/rate_limit.h"

namespace gpupool::web {

bool RateLimit::allows(const std::string& address) {
  const base::MutexLock lock(mutex_);
  if (buckets_.size() >= kMostAddresses && !buckets_.contains(address)) buckets_.clear();
  base::TokenBucket& bucket = buckets_.try_emplace(address, kPerSecond, kBurst).first->second;
  const base::SteadyTime now = clock_.now();
  // A refused request takes no token: it would be one of the future, and the address would never get out.
  base::TokenBucket tried = bucket;
  if (tried.reserve(now) > base::Duration::zero()) return false;
  bucket = tried;
  return true;
}

}  // namespace gpupool::web
