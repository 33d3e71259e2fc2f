// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace gpupool::limiter::testing {

// All 0, and the same memory in processes that are forked later. Never freed. Ends the program if there is no
// memory.
template <typename T>
T* share_with_children() {
  void* const memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("cannot share memory with children");
    std::exit(2);
  }
  return static_cast<T*>(memory);
}

}  // namespace gpupool::limiter::testing
