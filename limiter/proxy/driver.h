// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/proxy/forwarding.h"

namespace gpupool::limiter {

// The functions of libcuda.so.1, by their exported names; generated from names/cuda.txt.
enum class Fn : std::uint16_t {
#include "limiter/proxy/cuda/functions.inc"
};

// The driver's own function, or nullptr if this driver lacks it or there is none. The first call loads the
// driver. Thread-safe.
inline void* driver_function(Fn function) { return real_function(static_cast<std::uint32_t>(function)); }

}  // namespace gpupool::limiter
