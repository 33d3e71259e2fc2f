// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "limiter/region/monotonic.h"

namespace gpupool::limiter {

// A lock between the threads of this process. std::mutex needs libstdc++'s shared library to throw, and
// glibc 2.34 moved functions of pthread mutexes, so that a library built with it does not load with an older
// one. After a fork the child makes it free again.
class LocalLock {
 public:
  constexpr LocalLock() = default;

  // False: not had within `timeout_ns`.
  bool lock(std::uint64_t timeout_ns) {
    std::uint32_t free = kFree;
    return word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed) ||
           lock_slowly(timeout_ns);
  }
  void unlock() {
    if (word_.exchange(kFree, std::memory_order_release) == kWaitedFor) {
      ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }
  void make_free() { word_.store(kFree, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWaitedFor = 2;  // held, and somebody may wait

  bool lock_slowly(std::uint64_t timeout_ns) {
    const std::uint64_t begin = monotonic_ns();
    while (word_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) {
      const std::uint64_t waited = monotonic_ns() - begin;
      if (waited >= timeout_ns) return false;
      const std::uint64_t left = timeout_ns - waited;
      struct timespec timeout{};
      timeout.tv_sec = static_cast<time_t>(left / 1'000'000'000 % 1'000'000'000);
      timeout.tv_nsec = static_cast<long>(left % 1'000'000'000);
      ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, kWaitedFor, &timeout, nullptr, 0);
    }
    return true;
  }

  std::atomic<std::uint32_t> word_{kFree};
};

// Holds a lock for as long as it lives.
class HeldLock {
 public:
  static constexpr std::uint64_t kForEver = ~std::uint64_t{0};

  // With a time-out see held().
  explicit HeldLock(LocalLock& lock, std::uint64_t timeout_ns = kForEver)
      : lock_(lock), held_(lock.lock(timeout_ns)) {}
  ~HeldLock() {
    if (held_) lock_.unlock();
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  bool held() const { return held_; }

 private:
  LocalLock& lock_;
  bool held_;
};

}  // namespace gpupool::limiter
