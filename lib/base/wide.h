// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpupool::base {

// 128 bits, for products of two std::int64_t. GCC and Clang have it on every 64-bit machine.
__extension__ using Wide = __int128;

inline Wide product(std::int64_t a, std::int64_t b) { return static_cast<Wide>(a) * b; }

}  // namespace gpupool::base
