// SPDX-License-Identifier: Apache-2.0
#include "stream/outbox.h"

#include <utility>

namespace gpupool::web {

bool Outbox::push(const std::string& line, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  const auto has_place = [this]() GPUPOOL_REQUIRES(mutex_) { return waiting_.size() < kMost; };
  if (!clock_.wait(lock.native(), changed_, stop, std::nullopt, has_place)) return false;
  waiting_ += line;
  waiting_ += '\n';
  changed_.notify_all();
  return true;
}

std::string Outbox::take(base::Duration most, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  const auto has_some = [this]() GPUPOOL_REQUIRES(mutex_) { return !waiting_.empty(); };
  clock_.wait(lock.native(), changed_, stop, clock_.now() + most, has_some);
  changed_.notify_all();
  return std::exchange(waiting_, {});
}

}  // namespace gpupool::web
