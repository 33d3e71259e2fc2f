// SPDX-License-Identifier: Apache-2.0
#include "store/rank_reader.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "api/log_push_format.h"
#include "base/read_file.h"
#include "store/chunk_bytes.h"
#include "store/rank_files.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::size_t kRawPiece = std::size_t{512} * 1024;
constexpr int kTries = 3;

// Chunks that begin at `begin`, without those before `position`.
std::string chunks_from(std::string chunks, std::uint64_t begin, std::uint64_t position) {
  if (begin >= position) return chunks;
  std::string_view rest = chunks;
  while (begin < position) {
    const auto chunk = push::take_chunk(rest);
    if (!chunk) break;
    begin += position_bytes(*chunk);
  }
  return std::string(rest);
}

}  // namespace

// False: there is no frame yet.
base::Result<bool> RankReader::open_log() {
  if (log_.valid()) return true;
  const std::string path = log_file(folder_, rank_);
  log_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (log_.valid()) return true;
  if (errno == ENOENT) return false;
  return file_error(path);
}

// The frame that begins at a position or has it inside; offset_ is then its offset.
base::Result<std::optional<FrameHeader>> RankReader::frame_from(std::uint64_t position) {
  const auto opened = open_log();
  if (!opened) return tl::unexpected<base::Error>(opened.error());
  if (!*opened) return std::nullopt;
  if (position < position_) offset_ = position_ = 0;
  while (true) {
    const auto bytes = read_at(log_, offset_, kFrameHeader);
    if (!bytes) return tl::unexpected<base::Error>(bytes.error());
    const auto header = read_frame_header(*bytes);
    if (!header) return std::nullopt;
    if (position < header->end) return header;
    offset_ += kFrameHeader + header->stored;
    position_ = header->end;
  }
}

base::Result<std::optional<Block>> RankReader::raw_from(std::uint64_t position) const {
  for (const std::uint64_t begin : raw_positions(folder_, rank_)) {
    if (begin > position) break;
    const std::string path = raw_file(folder_, rank_, begin);
    const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) continue;  // it is in a frame now
    std::uint64_t offset = 0;
    std::uint64_t at = begin;
    while (true) {
      const auto bytes = read_at(file, offset, kRawPiece);
      if (!bytes) return tl::unexpected<base::Error>(bytes.error());
      std::string_view rest = *bytes;
      Block block{std::max(at, position), at, {}};
      while (const auto chunk = push::take_chunk(rest)) {
        at += position_bytes(*chunk);
        if (at > position) push::put_chunk(block.chunks, *chunk);
      }
      block.end = at;
      if (!block.chunks.empty()) return block;
      if (rest.size() == bytes->size()) break;  // nothing whole
      offset += bytes->size() - rest.size();
    }
  }
  return std::nullopt;
}

base::Result<std::optional<Block>> RankReader::next(std::uint64_t position) {
  for (int tries = 0; tries < kTries; ++tries) {
    const auto header = frame_from(position);
    if (!header) return tl::unexpected<base::Error>(header.error());
    if (*header) {
      const auto stored = read_at(log_, offset_ + kFrameHeader, (*header)->stored);
      if (!stored) return tl::unexpected<base::Error>(stored.error());
      if (stored->size() < (*header)->stored) return raw_from(position);  // it is being written
      auto chunks = read_frame_chunks(**header, *stored);
      if (!chunks) return base::fail(base::ErrorCode::kIo, "a frame of the log is damaged");
      return Block{std::max(position, (*header)->begin), (*header)->end,
                   chunks_from(std::move(*chunks), (*header)->begin, position)};
    }
    auto raw = raw_from(position);
    if (!raw || *raw) return raw;
    // Between the two looks, the raw file may have become a frame.
  }
  return std::nullopt;
}

base::Result<std::vector<RankReader::Place>> RankReader::places() {
  std::vector<Place> found;
  std::uint64_t position = 0;
  while (true) {
    const auto header = frame_from(position);
    if (!header) return tl::unexpected<base::Error>(header.error());
    if (!*header) break;
    found.push_back({(*header)->begin, (*header)->end, (*header)->last_ns});
    position = (*header)->end;
  }
  found.push_back({position, 0, UINT64_MAX});
  return found;
}

std::optional<std::string> RankReader::end() const {
  auto text = base::read_file(end_file(folder_, rank_));
  if (!text) return std::nullopt;
  return *std::move(text);
}

}  // namespace gpupool::keeper
