// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

// Device memory of a context, as cuMemAlloc makes it: small ones share blocks of 2 MiB. `low`: below 4 GiB.
Result allocate(Driver& driver, Context& context, std::uint64_t bytes, Pointer* out, bool low = false);
Result allocate_managed(Driver& driver, Context& context, std::uint64_t bytes, Pointer* out);
// Whatever cuMemFree can free.
Result free_memory(Driver& driver, Pointer address);
// Everything that a context owns.
void free_all_of(Driver& driver, Context& context);

}  // namespace gpupool::fake_cuda
