// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpupool::bench {

// What this program has taken from the heap by `new` so far. Programs linked with allocations.cc count.
struct Heap {
  std::int64_t calls = 0;  // of operator new
  std::int64_t live = 0;   // bytes taken and not given back, as malloc rounds them
};

Heap heap();

}  // namespace gpupool::bench
