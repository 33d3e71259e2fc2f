// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104). Needs libc alone: the static launcher includes it, and the
// programs that check what the launcher computes use the same code. Pure, thread-safe, no errors. For short
// texts: it holds a copy of the last block only, and takes about 4 ns a byte.
namespace gpupool::base {

using Sha256Digest = std::array<std::uint8_t, 32>;

namespace sha256_detail {

using State = std::array<std::uint32_t, 8>;

inline constexpr std::size_t kBlock = 64;

inline constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline void add_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < kBlock; ++i) w[i / 4] = (w[i / 4] << 8) | static_cast<std::uint8_t>(block[i]);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  State s = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                             ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRounds[i] + w[i];
    const std::uint32_t t2 = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                             ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) state[i] += s[i];
}

}  // namespace sha256_detail

inline Sha256Digest sha256(std::string_view data) {
  using sha256_detail::kBlock;
  sha256_detail::State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::uint64_t bits = std::uint64_t{data.size()} * 8;
  while (data.size() >= kBlock) {
    sha256_detail::add_block(state, data.substr(0, kBlock));
    data.remove_prefix(kBlock);
  }
  std::string last(data);
  last.push_back('\x80');
  while (last.size() % kBlock != kBlock - 8) last.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) last.push_back(static_cast<char>((bits >> shift) & 0xff));
  for (std::size_t at = 0; at < last.size(); at += kBlock)
    sha256_detail::add_block(state, std::string_view(last).substr(at, kBlock));
  Sha256Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

inline Sha256Digest hmac_sha256(std::string_view key, std::string_view data) {
  using sha256_detail::kBlock;
  std::string block(key);
  if (block.size() > kBlock) {
    const Sha256Digest digest = sha256(key);
    block.assign(digest.begin(), digest.end());
  }
  block.resize(kBlock, '\0');
  std::string inner;
  std::string outer;
  for (const char c : block) {
    inner.push_back(static_cast<char>(c ^ 0x36));
    outer.push_back(static_cast<char>(c ^ 0x5c));
  }
  inner.append(data);
  const Sha256Digest digest = sha256(inner);
  outer.append(digest.begin(), digest.end());
  return sha256(outer);
}

// In a time that does not depend on where two digests differ.
inline bool same_digest(const Sha256Digest& one, std::string_view other) {
  if (other.size() != one.size()) return false;
  unsigned int difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned int>(one[i] ^ static_cast<std::uint8_t>(other[i]));
  return difference == 0;
}

}  // namespace gpupool::base
