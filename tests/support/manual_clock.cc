// SPDX-License-Identifier: Apache-2.0
#include "tests/support/manual_clock.h"

#include <algorithm>

namespace gpupool::test {

namespace {

constexpr base::SteadyTime kSteadyStart{std::chrono::hours(1000)};
constexpr std::chrono::seconds kHangLimit{30};

// Holds the waiter's mutex and the clock's as one. A waiter that has seen the old time holds both until it
// blocks, so no advance() can fall in between.
class BothLocks {
 public:
  BothLocks(std::unique_lock<std::mutex>& outer, std::mutex& inner) : outer_(outer), inner_(inner) {
    inner_.lock();
  }
  ~BothLocks() { inner_.unlock(); }
  BothLocks(const BothLocks&) = delete;
  BothLocks& operator=(const BothLocks&) = delete;

  void lock() {
    outer_.lock();
    inner_.lock();
  }
  void unlock() {
    inner_.unlock();
    outer_.unlock();
  }

 private:
  std::unique_lock<std::mutex>& outer_;
  std::mutex& inner_;
};

}  // namespace

ManualClock::ManualClock(base::WallTime wall) : elapsed_(base::Duration::zero()), wall_start_(wall) {}

base::SteadyTime ManualClock::now() const { return kSteadyStart + elapsed_.load(); }

base::WallTime ManualClock::wall() const {
  return wall_start_ + std::chrono::duration_cast<base::WallTime::duration>(elapsed_.load());
}

bool ManualClock::wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                       std::stop_token stop, std::optional<base::SteadyTime> deadline,
                       const std::function<bool()>& ready) {
  BothLocks both(lock, mutex_);
  const auto over = [&] { return ready() || (deadline && now() >= *deadline); };
  const auto self = waiters_.insert(waiters_.end(), Waiter{&changed, deadline});
  arrived_.notify_all();
  changed.wait(both, std::move(stop), over);
  waiters_.erase(self);
  return ready();
}

void ManualClock::advance(base::Duration by) {
  const std::lock_guard lock(mutex_);
  advance_locked(by);
}

void ManualClock::advance_locked(base::Duration by) {
  elapsed_.store(elapsed_.load() + by);
  for (const Waiter& waiter : waiters_) waiter.changed->notify_all();
}

bool ManualClock::blocked(const Waiter& waiter) const { return !waiter.deadline || *waiter.deadline > now(); }

bool ManualClock::advance_to_next_deadline() {
  const std::lock_guard lock(mutex_);
  std::optional<base::SteadyTime> first;
  for (const Waiter& waiter : waiters_) {
    if (blocked(waiter) && waiter.deadline && (!first || *waiter.deadline < *first)) first = waiter.deadline;
  }
  if (!first) return false;
  advance_locked(*first - now());
  return true;
}

bool ManualClock::wait_for_waiters(std::size_t count) {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, kHangLimit, [&] {
    return static_cast<std::size_t>(std::count_if(waiters_.begin(), waiters_.end(),
                                                  [&](const Waiter& waiter) { return blocked(waiter); })) >=
           count;
  });
}

bool ManualClock::wait_for_deadline(base::SteadyTime deadline) {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, kHangLimit, [&] {
    return std::any_of(waiters_.begin(), waiters_.end(),
                       [&](const Waiter& waiter) { return blocked(waiter) && waiter.deadline == deadline; });
  });
}

}  // namespace gpupool::test
