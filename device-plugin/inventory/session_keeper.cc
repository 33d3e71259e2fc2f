#include "inventory/session_keeper.h"

#include <utility>

namespace gpupool::inventory {

base::Result<SessionKeeper::Use> SessionKeeper::open() {
  std::unique_lock lock(mutex_);
  const bool settled = changed_.wait_for(
      lock, kPatience, [this] { return phase_ == Phase::kClosed || phase_ == Phase::kOpen; });
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
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kOpen) return std::nullopt;
  ++users_;
  return Use(this, session_.get(), number_);
}

void SessionKeeper::wait_open(base::SteadyTime deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, deadline, [this] { return phase_ == Phase::kOpen; });
}

void SessionKeeper::pause(base::SteadyTime deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, deadline, [] { return false; });
}

void SessionKeeper::release() {
  std::unique_lock lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kOpen) phase_ = Phase::kRetiring;
}

}  // namespace gpupool::inventory
