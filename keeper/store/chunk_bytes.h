// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "api/log_push_format.h"

namespace gpupool::keeper {

// How many bytes of output a chunk of the store says are lost here; nothing if it holds output.
inline std::optional<std::uint64_t> lost_bytes(const api::log_push::Chunk& chunk) {
  if (chunk.stream != api::log_push::Stream::kLost || chunk.bytes.size() != sizeof(std::uint64_t))
    return std::nullopt;
  return api::log_push::get<std::uint64_t>(chunk.bytes);
}

// By how much a chunk moves the position on.
inline std::uint64_t position_bytes(const api::log_push::Chunk& chunk) {
  return lost_bytes(chunk).value_or(chunk.bytes.size());
}

}  // namespace gpupool::keeper
