// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/session_keeper.h"

#include <utility>

namespace gpupool::nvidia {

base::Result<SessionKeeper::Use> SessionKeeper::open() {
  base::MutexLock lock(mutex_);
  const bool settled = changed_.wait_for(lock.native(), kPatience, [this]() GPUPOOL_REQUIRES(mutex_) {
    return phase_ == Phase::kClosed || phase_ == Phase::kOpen;
  });
  if (!settled) {
    return base::fail(base::ErrorCode::kTimeout, "the NVIDIA driver does not answer a call of before");
  }
  if (phase_ == Phase::kClosed) {
    phase_ = Phase::kOpening;
    lock.unlock();
    auto opened = NvmlSession::open(library_);  // can take seconds: GPUs are initialised
    lock.lock();
    phase_ = opened ? Phase::kOpen : Phase::kClosed;
    changed_.notify_all();
    if (!opened) return tl::unexpected(std::move(opened.error()));
    session_ = std::move(*opened);
    ++number_;
  }
  ++users_;
  return Use(this, session_.get(), number_);
}

std::optional<SessionKeeper::Use> SessionKeeper::current() {
  const base::MutexLock lock(mutex_);
  if (phase_ != Phase::kOpen) return std::nullopt;
  ++users_;
  return Use(this, session_.get(), number_);
}

void SessionKeeper::wait_open(base::SteadyTime deadline, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  changed_.wait_until(lock.native(), stop, deadline,
                      [this]() GPUPOOL_REQUIRES(mutex_) { return phase_ == Phase::kOpen; });
}

void SessionKeeper::pause(base::SteadyTime deadline, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  changed_.wait_until(lock.native(), stop, deadline, [] { return false; });
}

void SessionKeeper::release() {
  base::MutexLock lock(mutex_);
  if (--users_ > 0 || phase_ != Phase::kRetiring) return;
  phase_ = Phase::kClosing;
  auto closing = std::move(session_);
  lock.unlock();
  closing.reset();
  lock.lock();
  phase_ = Phase::kClosed;
  changed_.notify_all();
}

void SessionKeeper::retire() {
  const base::MutexLock lock(mutex_);
  if (phase_ == Phase::kOpen) phase_ = Phase::kRetiring;
}

}  // namespace gpupool::nvidia
