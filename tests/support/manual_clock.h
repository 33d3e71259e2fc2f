// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <list>

#include "base/clock.h"

namespace gpupool::test {

// Time that only moves when a test says so. Threads really block in wait(). Thread-safe.
//
//   ManualClock clock;
//   std::jthread worker([&](std::stop_token stop) { clock.sleep_for(10s, stop); ... });
//   ASSERT_TRUE(clock.wait_for_waiters(1));   // it sleeps now
//   clock.advance(10s);                       // and wakes
class ManualClock final : public base::Clock {
 public:
  // 2026-01-02T03:04:05Z
  static constexpr base::WallTime kWallStart{std::chrono::seconds(1767323045)};

  explicit ManualClock(base::WallTime wall = kWallStart);

  base::SteadyTime now() const override;
  base::WallTime wall() const override;
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<base::SteadyTime> deadline, const std::function<bool()>& ready) override;

  // Moves both times on and wakes every waiter whose deadline this reaches. May be called with the waiters'
  // mutex held.
  void advance(base::Duration by);
  // Moves the steady time to the earliest deadline of all waiters; false if none has one.
  bool advance_to_next_deadline();

  // Blocks until at least `count` threads are blocked in wait(); false after half a minute of real time.
  [[nodiscard]] bool wait_for_waiters(std::size_t count);
  // The same for threads whose deadline is exactly `deadline`.
  [[nodiscard]] bool wait_for_deadline(base::SteadyTime deadline);

 private:
  struct Waiter {
    std::condition_variable_any* changed;
    std::optional<base::SteadyTime> deadline;
  };

  void advance_locked(base::Duration by);
  // False for a waiter whose time is over, though its thread may not have run yet.
  bool blocked(const Waiter& waiter) const;

  std::atomic<base::Duration> elapsed_;
  base::WallTime wall_start_;
  std::mutex mutex_;  // taken after a waiter's own; nothing else is taken while it is held
  std::condition_variable arrived_;
  std::list<Waiter> waiters_;
};

}  // namespace gpupool::test
