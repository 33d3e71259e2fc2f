#pragma once

namespace gpupool::base {

// Call first in main. What is large and short-lived, as the text of a list, then goes back to the system when
// it is freed; glibc would keep it between small objects that live long (mallopt(3), M_MMAP_THRESHOLD).
void return_large_blocks();

}  // namespace gpupool::base
