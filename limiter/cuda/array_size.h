// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// Bytes that an array, or a mipmapped one, of this description takes on the current device; `levels` 0: a
// plain array. Arrays whose memory is mapped later (deferred, sparse) take none. The driver tells the size of
// deferred ones only, so one is made to ask and destroyed; where that fails the size is computed, rounded up.
std::uint64_t array_bytes(const Array3dDescriptor& descriptor, unsigned levels, CUdevice device);

}  // namespace gpupool::limiter
