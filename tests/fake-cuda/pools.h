// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

// Gives memory of a pool back to it.
Result free_to_pool(Driver& driver, Pointer address);

}  // namespace gpupool::fake_cuda
