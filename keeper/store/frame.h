// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::keeper {

// What a rank's file consists of: frames one after the other, each a header and compressed chunks
// (lib/api/log_push_format.h). The headers are the index: from one to the next is one read of kFrameHeader
// bytes.
struct FrameHeader {
  std::uint64_t begin = 0;    // position of the first byte
  std::uint64_t end = 0;      // position behind the last byte
  std::uint64_t last_ns = 0;  // greatest time of a chunk up to here
  std::uint64_t lost = 0;     // bytes that are lost of [0, end)
  std::uint32_t chunks = 0;   // bytes of the chunks
  std::uint32_t stored = 0;   // bytes of the compressed chunks, which follow
};

inline constexpr std::size_t kFrameHeader = 52;
inline constexpr std::uint32_t kMaxFrameChunks = 4 * 1024 * 1024;

// header.stored and header.chunks are set here. Thread-safe.
std::string make_frame(FrameHeader header, std::string_view chunks);

// Nothing if the bytes are no whole header, or one that was changed.
std::optional<FrameHeader> read_frame_header(std::string_view bytes);

// The chunks of a frame. Nothing if they are not as they were stored. Thread-safe.
std::optional<std::string> read_frame_chunks(const FrameHeader& header, std::string_view stored);

}  // namespace gpupool::keeper
