// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gpupool::carry::csv {

// Returns a bit for each of 16 bytes: whether it is the delimiter, a quote or an end of a line. Pure.
inline std::uint64_t scan_16_marks(const char* bytes, char delimiter) {
  static_assert(std::endian::native == std::endian::little);
  using Chunk [[gnu::vector_size(16)]] = char;
  Chunk chunk;
  std::memcpy(&chunk, bytes, sizeof chunk);
  const Chunk marks = (chunk == delimiter) | (chunk == '"') | (chunk == '\n') | (chunk == '\r');
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::memcpy(&low, &marks, sizeof low);
  std::memcpy(&high, reinterpret_cast<const char*>(&marks) + sizeof low, sizeof high);
  // The product brings the lowest bits of the 8 bytes together in its highest byte.
  constexpr std::uint64_t kLowest = 0x0101010101010101;
  constexpr std::uint64_t kGather = 0x0102040810204080;
  return (((low & kLowest) * kGather) >> 56U) | ((((high & kLowest) * kGather) >> 56U) << 8U);
}

// The same of 64 bytes. Pure.
inline std::uint64_t scan_marks(const char* bytes, char delimiter) {
  return scan_16_marks(bytes, delimiter) | scan_16_marks(bytes + 16, delimiter) << 16U |
         scan_16_marks(bytes + 32, delimiter) << 32U | scan_16_marks(bytes + 48, delimiter) << 48U;
}

}  // namespace gpupool::carry::csv
