// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace gpupool::enforcement {

// Settings and the driver's readings are in MiB, regions and limits that are compared in bytes.
inline constexpr std::uint64_t kBytesPerMib = 1ULL << 20U;

// What is below 0 counts as 0.
constexpr std::uint64_t bytes_of_mib(std::int64_t mib) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(mib, 0)) * kBytesPerMib;
}

// Rounded down.
constexpr std::int64_t mib_of_bytes(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes / kBytesPerMib);
}

}  // namespace gpupool::enforcement
