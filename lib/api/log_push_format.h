// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hmac_sha256.h"

// How gpupool-launch sends what a worker prints to gpupool-keeper, over TCP, one connection for a rank of an
// attempt. docs/protocol.md (Log push) has the order of messages. Needs libc alone: the static launcher
// includes it.
//
// A message is its type (1 byte), the length of its payload (4 bytes), and the payload. Numbers are little
// endian. A position is a number of bytes of the rank's output, both streams together, in the order in which
// they were relayed.
namespace gpupool::api::log_push {

inline constexpr int kVersion = 1;
inline constexpr std::uint16_t kPort = 7070;
inline constexpr std::string_view kTokenVariable = "GPUPOOL_KEEPER_TOKEN";

enum class Message : std::uint8_t {
  kHello = 1,   // launcher: JSON, who it is
  kNonce = 2,   // keeper: kNonceBytes random bytes
  kAuth = 3,    // launcher: HMAC-SHA256(token, nonce)
  kHave = 4,    // keeper: position from which on it wants the output, and position up to which it takes it
  kFrame = 5,   // launcher: position, then chunks
  kLost = 6,    // launcher: position, number of bytes that it has dropped from there on
  kAck = 8,     // keeper: position below which everything is on its disk, and up to which it takes more
  kEnd = 9,     // launcher: JSON, how the command ended; nothing of the rank comes after it
  kEnded = 10,  // keeper: everything, and the end, is on its disk
  kError = 11,  // keeper: 1 byte (1: never come again), text; it closes then
};

inline constexpr std::size_t kHeaderBytes = 5;
inline constexpr std::size_t kMaxPayload = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxHello = 4096;
inline constexpr std::size_t kNonceBytes = 32;
// How much the launcher of a command that has ended may send of its last output beyond what is taken else.
inline constexpr std::size_t kLastBytes = std::size_t{32} * 1024;

// A chunk of a frame: stream (1 byte), time (8 bytes: ns since 1970 of the launcher's clock), length (4
// bytes), and what was printed.
inline constexpr std::size_t kChunkHeaderBytes = 13;
enum class Stream : std::uint8_t {
  kLost = 0,
  kStdout = 1,
  kStderr = 2
};  // kLost: only in the keeper's files

template <class T>
void put(std::string& to, T number) {
  for (std::size_t i = 0; i < sizeof number; ++i) to.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
}

// The number at the start of `from`. REQUIRES: `from` has so many bytes.
template <class T>
T get(std::string_view from) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number = static_cast<T>(number |
                            static_cast<T>(static_cast<T>(static_cast<unsigned char>(from[i])) << (8 * i)));
  return number;
}

inline void put_message(std::string& to, Message type, std::string_view payload) {
  to.push_back(static_cast<char>(type));
  put(to, static_cast<std::uint32_t>(payload.size()));
  to += payload;
}

struct Chunk {
  Stream stream = Stream::kStdout;
  std::uint64_t unix_ns = 0;
  std::string_view bytes;
};

inline void put_chunk(std::string& to, const Chunk& chunk) {
  to.push_back(static_cast<char>(chunk.stream));
  put(to, chunk.unix_ns);
  put(to, static_cast<std::uint32_t>(chunk.bytes.size()));
  to += chunk.bytes;
}

// Takes the first chunk off `rest`, if it is there as a whole. The chunk refers to the same bytes.
inline std::optional<Chunk> take_chunk(std::string_view& rest) {
  if (rest.size() < kChunkHeaderBytes) return std::nullopt;
  const auto length = get<std::uint32_t>(rest.substr(9));
  if (rest.size() - kChunkHeaderBytes < length) return std::nullopt;
  const Chunk chunk{static_cast<Stream>(rest[0]), get<std::uint64_t>(rest.substr(1)),
                    rest.substr(kChunkHeaderBytes, length)};
  rest.remove_prefix(kChunkHeaderBytes + length);
  return chunk;
}

// What a worker proves that it knows. It is never sent. key: of the operator and the keeper.
inline base::Sha256Digest attempt_token(std::string_view key, std::string_view job_uid, std::int64_t lease,
                                        std::string_view ns) {
  std::string text(job_uid);
  text += '|';
  text += std::to_string(lease);
  text += '|';
  text += ns;
  return base::hmac_sha256(key, text);
}

inline std::string hex(const base::Sha256Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace gpupool::api::log_push
