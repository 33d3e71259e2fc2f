// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::base {

// Sets glibc's malloc (mallopt(3)) so that freed memory returns to the system. Blocks of 128 KiB and more,
// such as the text of a list, return as soon as they are freed (M_MMAP_THRESHOLD). All threads share two
// arenas, so that one thread can use what another has freed (M_ARENA_MAX; the default is eight per core).
// REQUIRES: called first in main, before any other thread starts.
void keep_heap_small();

// Returns free pages to the system (malloc_trim(3)). Takes milliseconds; call it when memory use has just
// dropped a lot. Thread-safe.
void return_free_pages();

}  // namespace gpupool::base
