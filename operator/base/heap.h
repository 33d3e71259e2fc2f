#pragma once

namespace gpupool::base {

// Call first in main. What is large and short-lived, as the text of a list, then goes back to the system when
// it is freed; glibc would keep it between small objects that live long. And what one thread frees is there
// for the others: glibc has eight arenas for each core (mallopt(3), M_MMAP_THRESHOLD and M_ARENA_MAX).
void keep_heap_small();

// Pages that nothing lives on go back to the system (malloc_trim(3)). For a moment after which much less is
// needed than before; takes milliseconds. Thread-safe.
void return_free_pages();

}  // namespace gpupool::base
