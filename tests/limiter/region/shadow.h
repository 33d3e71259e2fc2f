// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstdint>

namespace gpupool::limiter::testing {

inline constexpr unsigned kMaxWorkers = 64;

// The driver's side of the kill test: what each process really has, in memory that all share, under a robust
// mutex, so that a sum is of one moment. A dead process has nothing: it has lost its record lock on the
// shadow's file. The kernel closes descriptors of the dead in the order of their numbers, and the shadow's is
// below the region's: by the time that a slot can be cleared, its process's bytes are no longer counted here.
class Shadow {
 public:
  Shadow();  // before the processes are forked, and before any of them opens the region

  // In a worker: begins with nothing.
  void enter(unsigned worker);
  // The driver gives bytes. Returns what the living have with them.
  std::uint64_t take(unsigned worker, std::uint64_t bytes);
  void give_back(unsigned worker, std::uint64_t bytes);

 private:
  struct Shared {
    pthread_mutex_t mutex;
    std::uint64_t bytes[kMaxWorkers];
  };
  class Locked;

  int fd_;
  Shared* shared_;
};

}  // namespace gpupool::limiter::testing
