// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace gpupool::limiter {

// Sums of bytes that never wrap: what others wrote into a region may be any number.
constexpr std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max()
                                                           : a + b;
}

constexpr std::uint64_t take_off(std::uint64_t a, std::uint64_t b) { return b > a ? 0 : a - b; }

}  // namespace gpupool::limiter
