// SPDX-License-Identifier: Apache-2.0
#include "limiter/limits/crc32.h"

namespace gpupool::limiter {

// Bit by bit: a limits file is short and read once.
std::uint32_t crc32(std::string_view bytes) {
  constexpr std::uint32_t kPolynomial = 0xedb88320;
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
  }
  return ~crc;
}

}  // namespace gpupool::limiter
