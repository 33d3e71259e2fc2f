// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"

#include <malloc.h>

namespace gpupool::base {

void keep_heap_small() {
  constexpr int kLarge = 128 * 1024;  // glibc's initial value; setting it stops glibc from raising it
  mallopt(M_MMAP_THRESHOLD, kLarge);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
  mallopt(M_ARENA_MAX, 2);            // NOLINT(concurrency-mt-unsafe)
}

void return_free_pages() { malloc_trim(0); }

}  // namespace gpupool::base
