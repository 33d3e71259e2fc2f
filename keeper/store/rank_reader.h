// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/frame.h"

namespace gpupool::keeper {

// Chunks that follow each other.
struct Block {
  std::uint64_t begin = 0;  // position
  std::uint64_t end = 0;
  std::string chunks = {};
};

// Reads what a RankLog writes, also while it writes. One thread.
class RankReader {
 public:
  RankReader(std::string folder, std::int64_t rank) : folder_(std::move(folder)), rank_(rank) {}

  // The chunks from a position on, a frame's worth at most. `position` is 0, or the end of a block. Nothing
  // if there are none yet. Errors: kIo; kNotFound if the output was removed.
  base::Result<std::optional<Block>> next(std::uint64_t position);

  // The blocks that there are, without their chunks, in order; the last one may grow.
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: not in a frame yet
    std::uint64_t last_ns = 0;
  };
  base::Result<std::vector<Place>> places();

  // JSON, how the rank has ended. Nothing if it has not.
  std::optional<std::string> end() const;

 private:
  base::Result<bool> open_log();
  base::Result<std::optional<FrameHeader>> frame_from(std::uint64_t position);
  base::Result<std::optional<Block>> raw_from(std::uint64_t position) const;

  std::string folder_;
  std::int64_t rank_;
  base::UniqueFd log_;
  std::uint64_t offset_ = 0;    // of a frame in the log
  std::uint64_t position_ = 0;  // where that frame begins
};

}  // namespace gpupool::keeper
