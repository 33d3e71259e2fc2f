// SPDX-License-Identifier: Apache-2.0
#include "store/rank_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/log_push_format.h"
#include "base/write_all.h"
#include "store/chunk_bytes.h"
#include "store/rank_files.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::uint64_t kMostRaw = 2 * RankLog::kFrameBytes;

std::uint64_t size_of(const base::UniqueFd& file) {
  struct stat found{};
  return ::fstat(file.get(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

std::string lost_chunk(std::uint64_t bytes, std::uint64_t unix_ns) {
  std::string count;
  push::put(count, bytes);
  std::string chunk;
  push::put_chunk(chunk, {push::Stream::kLost, unix_ns, count});
  return chunk;
}

}  // namespace

base::Result<std::unique_ptr<RankLog>> RankLog::open(const std::string& folder, std::int64_t rank) {
  std::unique_ptr<RankLog> log(new RankLog(folder, rank));
  if (auto recovered = log->recover(); !recovered) return tl::unexpected<base::Error>(recovered.error());
  return log;
}

base::Result<void> RankLog::recover() {
  ended_ = ::access(end_file(folder_, rank_).c_str(), F_OK) == 0;
  const auto positions = raw_positions(folder_, rank_);
  // A raw file is removed only when what was before it is on the disk.
  const std::uint64_t sure = positions.empty() ? UINT64_MAX : positions.front();
  if (auto frames = recover_frames(sure); !frames) return frames;
  for (const std::uint64_t position : positions) {
    if (auto raw = recover_raw(position); !raw) return raw;
  }
  return {};
}

// Frames that begin at `sure` or later were perhaps not on the disk when the power was lost.
base::Result<void> RankLog::recover_frames(std::uint64_t sure) {
  const std::string path = log_file(folder_, rank_);
  const base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) return errno == ENOENT ? base::Result<void>() : file_error(path);
  const std::uint64_t size = size_of(file);
  while (log_size_ < size) {
    const auto bytes = read_at(file, log_size_, kFrameHeader);
    if (!bytes) return tl::unexpected<base::Error>(bytes.error());
    const auto header = read_frame_header(*bytes);
    if (!header || header->begin != next_ || size - log_size_ < kFrameHeader + header->stored) break;
    if (header->begin >= sure) {
      const auto stored = read_at(file, log_size_ + kFrameHeader, header->stored);
      if (!stored || !read_frame_chunks(*header, *stored)) break;
    }
    log_size_ += kFrameHeader + header->stored;
    next_ = header->end;
    lost_ = header->lost;
    last_ns_ = header->last_ns;
  }
  if (log_size_ < size && ::ftruncate(file.get(), static_cast<off_t>(log_size_)) != 0)
    return file_error(path);
  return {};
}

base::Result<void> RankLog::recover_raw(std::uint64_t position) {
  const std::string path = raw_file(folder_, rank_, position);
  if (position != next_) {  // in a frame already, or behind a gap that a loss of power has made
    ::unlink(path.c_str());
    return {};
  }
  if (raw_.valid()) {
    if (auto sealed = seal(); !sealed) return sealed;
  }
  base::UniqueFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file.valid()) return file_error(path);
  const std::uint64_t size = size_of(file);
  const auto bytes = read_at(file, 0, size);
  if (!bytes) return tl::unexpected<base::Error>(bytes.error());
  std::string_view rest = *bytes;
  while (const auto chunk = push::take_chunk(rest)) {
    next_ += position_bytes(*chunk);
    lost_ += lost_bytes(*chunk).value_or(0);
    last_ns_ = std::max(last_ns_, chunk->unix_ns);
  }
  const std::uint64_t whole = bytes->size() - rest.size();
  if (whole < size && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0) return file_error(path);
  raw_ = std::move(file);
  raw_begin_ = position;
  raw_size_ = whole;
  return {};
}

base::Result<void> RankLog::append(std::string_view chunks, std::uint64_t bytes, std::uint64_t last_ns) {
  if (raw_size_ >= kMostRaw) {
    if (auto sealed = seal(); !sealed) return sealed;
  }
  if (auto written = write_raw(chunks); !written) return written;
  next_ += bytes;
  last_ns_ = std::max(last_ns_, last_ns);
  // If there is no room to compress, the raw file grows, and the next call tries again.
  if (raw_size_ >= kFrameBytes) (void)seal();
  return {};
}

base::Result<void> RankLog::lose(std::uint64_t bytes, std::uint64_t unix_ns) {
  if (bytes == 0) return {};
  if (auto written = write_raw(lost_chunk(bytes, unix_ns)); !written) return written;
  next_ += bytes;
  lost_ += bytes;
  return {};
}

base::Result<void> RankLog::end(const std::string& json) {
  if (raw_size_ > 0) {
    if (auto sealed = seal(); !sealed) return sealed;
  }
  if (auto written = replace_file(end_file(folder_, rank_), json); !written) return written;
  ended_ = true;
  return {};
}

// All of it or nothing.
base::Result<void> RankLog::write_raw(std::string_view chunks) {
  const std::string path = raw_file(folder_, rank_, raw_begin_);
  if (!raw_.valid()) {
    raw_begin_ = next_;
    const std::string made = raw_file(folder_, rank_, raw_begin_);
    raw_.reset(::open(made.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
    if (!raw_.valid()) return file_error(made);
    raw_size_ = 0;
  }
  if (!base::write_all(raw_.get(), chunks)) {
    auto failed = file_error(path);
    (void)!::ftruncate(raw_.get(), static_cast<off_t>(raw_size_));
    return failed;
  }
  raw_size_ += chunks.size();
  return {};
}

// Compresses the raw file into a frame.
base::Result<void> RankLog::seal() {
  const std::string path = log_file(folder_, rank_);
  const auto chunks = read_at(raw_, 0, raw_size_);
  if (!chunks) return tl::unexpected<base::Error>(chunks.error());
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) return file_error(path);
  const std::string frame =
      make_frame({.begin = raw_begin_, .end = next_, .last_ns = last_ns_, .lost = lost_}, *chunks);
  if (!base::write_all(file.get(), frame)) {
    auto failed = file_error(path);
    (void)!::ftruncate(file.get(), static_cast<off_t>(log_size_));
    return failed;
  }
  log_size_ += frame.size();
  obsolete_.push_back(raw_file(folder_, rank_, raw_begin_));
  raw_.reset();
  raw_begin_ = next_;
  raw_size_ = 0;
  return {};
}

}  // namespace gpupool::keeper
