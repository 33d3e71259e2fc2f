// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace gpupool::carry::csv {

// Returns a bit for each of 64 bytes: whether it is the delimiter, a quote or an end of a line. Pure.
inline std::uint64_t scan_marks(const char* bytes, char delimiter) {
  static_assert(std::endian::native == std::endian::little);
  using Chunk [[gnu::vector_size(64)]] = char;
  Chunk chunk;
  std::memcpy(&chunk, bytes, sizeof chunk);
  const Chunk marks = ((chunk == delimiter) | (chunk == '"') | (chunk == '\n') | (chunk == '\r')) & 1;
  std::array<std::uint64_t, 8> words{};
  std::memcpy(words.data(), &marks, sizeof marks);
  std::uint64_t bits = 0;
  // The product brings the lowest bits of the 8 bytes together in its highest byte.
  for (unsigned i = 0; i < 8; ++i) bits |= ((words[i] * 0x0102040810204080) >> 56U) << (8 * i);
  return bits;
}

}  // namespace gpupool::carry::csv
