// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdint>

namespace gpupool::limiter {

// Holds a mutex of this process. std::mutex needs libstdc++'s shared library to throw.
class HeldMutex {
 public:
  explicit HeldMutex(pthread_mutex_t& mutex) : mutex_(mutex), held_(::pthread_mutex_lock(&mutex) == 0) {}
  // Gives up after `timeout_ns`; see held().
  HeldMutex(pthread_mutex_t& mutex, std::uint64_t timeout_ns)
      : mutex_(mutex), held_(::pthread_mutex_trylock(&mutex) == 0 || lock_until(mutex, timeout_ns)) {}
  ~HeldMutex() {
    if (held_) ::pthread_mutex_unlock(&mutex_);
  }
  HeldMutex(const HeldMutex&) = delete;
  HeldMutex& operator=(const HeldMutex&) = delete;

  bool held() const { return held_; }

 private:
  static bool lock_until(pthread_mutex_t& mutex, std::uint64_t timeout_ns) {
    struct timespec deadline{};
    ::clock_gettime(CLOCK_REALTIME, &deadline);
    const std::uint64_t nanoseconds = static_cast<std::uint64_t>(deadline.tv_nsec) + timeout_ns;
    deadline.tv_sec += static_cast<time_t>(nanoseconds / 1'000'000'000);
    deadline.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
    return ::pthread_mutex_timedlock(&mutex, &deadline) == 0;
  }

  pthread_mutex_t& mutex_;
  bool held_;
};

}  // namespace gpupool::limiter
