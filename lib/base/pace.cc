// SPDX-License-Identifier: Apache-2.0
#include "base/pace.h"

#include <algorithm>

namespace gpupool::base {

void Pace::done(const std::string& what) {
  const auto now = clock_.now();
  const MutexLock lock(mutex_);
  last_[what] = now;
  in_order_.emplace_back(now, what);
  while (!in_order_.empty() && in_order_.front().first + interval_ <= now) {
    const auto& [time, past] = in_order_.front();
    const auto found = last_.find(past);
    if (found != last_.end() && found->second == time) last_.erase(found);
    in_order_.pop_front();
  }
}

Duration Pace::until_next(const std::string& what) const {
  const MutexLock lock(mutex_);
  const auto found = last_.find(what);
  if (found == last_.end()) return Duration::zero();
  return std::max(found->second + interval_ - clock_.now(), Duration::zero());
}

}  // namespace gpupool::base
