// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// The array or mipmapped array is destroyed: physical memory that was mapped to it is not any more.
void array_unmapped(const void* array);

void forget_physical_after_fork();

}  // namespace gpupool::limiter
