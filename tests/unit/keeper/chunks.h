// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/log_push_format.h"
#include "store/rank_reader.h"

namespace gpupool::test {

inline std::string chunk_of(std::string_view text, std::uint64_t unix_ns = 1) {
  std::string chunk;
  api::log_push::put_chunk(chunk, {api::log_push::Stream::kStdout, unix_ns, text});
  return chunk;
}

// Text that is hard to compress.
inline std::string noise(std::size_t size, std::uint64_t seed) {
  std::string text;
  while (text.size() < size) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    text.push_back(static_cast<char>('!' + (seed >> 33) % 90));
  }
  return text;
}

// All that is stored of a rank; a loss is <n>.
inline std::string stored_text(const std::string& folder, std::int64_t rank, std::uint64_t from = 0) {
  namespace push = api::log_push;
  keeper::RankReader reader(folder, rank);
  std::string text;
  while (true) {
    const auto block = reader.next(from);
    if (!block || !*block) return text;
    std::string_view rest = (*block)->chunks;
    while (const auto chunk = push::take_chunk(rest)) {
      if (chunk->stream == push::Stream::kLost) {
        text += "<" + std::to_string(push::get<std::uint64_t>(chunk->bytes)) + ">";
      } else {
        text += chunk->bytes;
      }
    }
    from = (*block)->end;
  }
}

}  // namespace gpupool::test
