// SPDX-License-Identifier: Apache-2.0
#include "net/tls_cache.h"

#include <utility>

namespace gpupool::net {

TlsCache::TlsCache(std::function<base::Result<TlsMaterial>()> source) : source_(std::move(source)) {
  if (!source_) good_ = std::make_shared<const TlsMaterial>();
}

base::Result<std::shared_ptr<const TlsMaterial>> TlsCache::get(base::SteadyTime now, bool fresh) {
  if (!source_) return good();
  {
    const base::MutexLock lock(mutex_);
    if (good_ && !fresh && now - asked_at_ < kMaxAge) return good_;
  }
  std::unique_lock asking(asking_, std::defer_lock);
  if (good()) {
    if (!asking.try_lock()) return good();
  } else {
    asking.lock();
  }

  auto answer = source_();
  const base::MutexLock lock(mutex_);
  asked_at_ = now;
  if (answer) {
    if (!good_ || !(*good_ == *answer)) good_ = std::make_shared<const TlsMaterial>(std::move(*answer));
  } else if (!good_) {
    return base::in_context(std::move(answer.error()), "TLS material");
  }
  return good_;
}

std::shared_ptr<const TlsMaterial> TlsCache::good() const {
  const base::MutexLock lock(mutex_);
  return good_;
}

}  // namespace gpupool::net
