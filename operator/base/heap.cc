#include "base/heap.h"

#include <malloc.h>

namespace gpupool::base {

void keep_heap_small() {
  constexpr int kLarge = 128 * 1024;  // where glibc begins too, before it adapts to what it sees
  mallopt(M_MMAP_THRESHOLD, kLarge);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
  mallopt(M_ARENA_MAX, 2);            // NOLINT(concurrency-mt-unsafe)
}

void return_free_pages() { malloc_trim(0); }

}  // namespace gpupool::base
