// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpupool::limiter {

// Whether to call the driver again after it said out of memory although the container has room. There are two
// reasons: a process has just died and the driver is still freeing its memory (up to 2 s after its slot was
// cleared), and the wait mode of the limits file, if another container of the GPU may give memory back. Uses
// no lock of ours while it waits.
class Patience {
 public:
  Patience(unsigned position, std::uint64_t bytes);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // Sleeps a moment; false: the out-of-memory is final.
  bool pause();

 private:
  unsigned position_;
  std::uint64_t bytes_;
  std::uint64_t ticket_ = 0;  // of the wait mode
  std::uint64_t began_ns_;
  std::uint64_t pause_ns_;
};

}  // namespace gpupool::limiter
