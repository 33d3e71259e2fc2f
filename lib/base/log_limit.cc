// SPDX-License-Identifier: Apache-2.0
#include "base/log_limit.h"

#include <algorithm>
#include <utility>

namespace gpupool::base {

LogLimit::Allowance& LogLimit::allowance(std::string_view key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  if (by_key_.size() >= rate_.max_keys) return others_;
  return by_key_[std::string(key)];
}

std::optional<std::uint64_t> LogLimit::admit(std::string_view key, SteadyTime now) {
  const MutexLock lock(mutex_);
  Allowance& mine = allowance(key);
  // Generic cell rate algorithm (ITU-T I.371).
  const auto paid_until = std::max(mine.paid_until, now) + rate_.interval;
  if (paid_until > now + rate_.interval * rate_.burst) {
    ++mine.left_out;
    return std::nullopt;
  }
  mine.paid_until = paid_until;
  return std::exchange(mine.left_out, 0);
}

}  // namespace gpupool::base
