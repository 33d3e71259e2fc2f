// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/frame.h"

namespace gpupool::keeper {

// Writes what one rank prints. Chunks go into a raw file; when it has kFrameBytes they are compressed into a
// frame, and the raw file is removed once the frame is on the disk. So a loss of power costs nothing that was
// told to be on the disk. Errors are kIo; what was not written can be tried again. One thread.
class RankLog {
 public:
  static constexpr std::size_t kFrameBytes = std::size_t{256} * 1024;

  // Takes up what an earlier process has left: frames that are not whole are cut off, and raw files go on.
  static base::Result<std::unique_ptr<RankLog>> open(const std::string& folder, std::int64_t rank);

  // The position of the next byte.
  std::uint64_t next() const { return next_; }
  bool ended() const { return ended_; }
  std::uint64_t lost() const { return lost_; }  // bytes of [0, next())
  std::uint64_t disk_bytes() const { return log_size_ + raw_size_; }

  // chunks: whole chunks of stdout and stderr, together `bytes` bytes of output.
  base::Result<void> append(std::string_view chunks, std::uint64_t bytes, std::uint64_t last_ns);
  // The next `bytes` bytes are lost.
  base::Result<void> lose(std::uint64_t bytes, std::uint64_t unix_ns);
  // The rank has ended. end: JSON.
  base::Result<void> end(const std::string& json);

  // Called before the disk is synced: what may be removed afterwards.
  std::vector<std::string> take_obsolete() { return std::exchange(obsolete_, {}); }

 private:
  RankLog(std::string folder, std::int64_t rank) : folder_(std::move(folder)), rank_(rank) {}
  base::Result<void> recover();
  base::Result<void> recover_frames(std::uint64_t sure);
  base::Result<void> recover_raw(std::uint64_t position);
  base::Result<void> write_raw(std::string_view chunks);
  base::Result<void> seal();

  std::string folder_;
  std::int64_t rank_;
  base::UniqueFd raw_;
  std::uint64_t raw_begin_ = 0;  // position
  std::uint64_t raw_size_ = 0;
  std::uint64_t log_size_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t last_ns_ = 0;
  bool ended_ = false;
  std::vector<std::string> obsolete_;
};

}  // namespace gpupool::keeper
