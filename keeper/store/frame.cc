// SPDX-License-Identifier: Apache-2.0
#include "store/frame.h"

#include <zstd.h>

#include <memory>

#include "api/log_push_format.h"
#include "base/fnv_hash.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::uint32_t kMagic = 0x31464b47;  // "GKF1"
constexpr int kLevel = 3;

std::uint64_t checksum(std::string_view header) {
  base::FnvHash hash;
  hash.add(header);
  return hash.value();
}

struct Freed {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

std::string make_frame(FrameHeader header, std::string_view chunks) {
  thread_local const std::unique_ptr<ZSTD_CCtx, Freed> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string stored(ZSTD_compressBound(chunks.size()), '\0');
  stored.resize(ZSTD_compress2(context.get(), stored.data(), stored.size(), chunks.data(), chunks.size()));
  header.chunks = static_cast<std::uint32_t>(chunks.size());
  header.stored = static_cast<std::uint32_t>(stored.size());
  std::string frame;
  frame.reserve(kFrameHeader + stored.size());
  push::put(frame, kMagic);
  push::put(frame, header.begin);
  push::put(frame, header.end);
  push::put(frame, header.last_ns);
  push::put(frame, header.lost);
  push::put(frame, header.chunks);
  push::put(frame, header.stored);
  push::put(frame, checksum(frame));
  return frame + stored;
}

std::optional<FrameHeader> read_frame_header(std::string_view bytes) {
  if (bytes.size() < kFrameHeader || push::get<std::uint32_t>(bytes) != kMagic) return std::nullopt;
  FrameHeader header;
  header.begin = push::get<std::uint64_t>(bytes.substr(4));
  header.end = push::get<std::uint64_t>(bytes.substr(12));
  header.last_ns = push::get<std::uint64_t>(bytes.substr(20));
  header.lost = push::get<std::uint64_t>(bytes.substr(28));
  header.chunks = push::get<std::uint32_t>(bytes.substr(36));
  header.stored = push::get<std::uint32_t>(bytes.substr(40));
  if (push::get<std::uint64_t>(bytes.substr(44)) != checksum(bytes.substr(0, 44))) return std::nullopt;
  if (header.chunks > kMaxFrameChunks || header.end < header.begin) return std::nullopt;
  return header;
}

std::optional<std::string> read_frame_chunks(const FrameHeader& header, std::string_view stored) {
  std::string chunks(header.chunks, '\0');
  const std::size_t size = ZSTD_decompress(chunks.data(), chunks.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != chunks.size()) return std::nullopt;
  return chunks;
}

}  // namespace gpupool::keeper
