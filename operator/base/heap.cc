#include "base/heap.h"

#include <malloc.h>

namespace gpupool::base {

void return_large_blocks() {
  constexpr int kLarge = 128 * 1024;  // where glibc begins too, before it adapts to what it sees
  mallopt(M_MMAP_THRESHOLD, kLarge);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
}

}  // namespace gpupool::base
