// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "readers/line_writer.h"
#include "store/rank_reader.h"

namespace gpupool::keeper {

// As of the API server's pods/log.
struct LogQuery {
  bool timestamps = false;
  bool follow = false;
  std::optional<std::uint64_t> tail_lines = std::nullopt;
  std::optional<base::WallTime> since = std::nullopt;
};

// The log of a rank, piece by piece. One thread.
class LogStream {
 public:
  // over: whether nothing more comes of the rank, although it has no end. may_go_on: asked every minute while
  // the log is followed. REQUIRES: what they refer to outlives the stream.
  LogStream(RankReader reader, const LogQuery& query, std::function<bool()> over,
            std::function<bool(const std::stop_token&)> may_go_on, base::Clock& clock);

  // Where to begin; kIo.
  base::Result<void> open();

  // The next piece; nothing at the end, or if it cannot be read on.
  std::optional<std::string> next(const std::stop_token& stop);

 private:
  base::Result<std::uint64_t> lines_from(std::uint64_t position);
  bool wait(const std::stop_token& stop);

  RankReader reader_;
  LogQuery query_;
  std::function<bool()> over_;
  std::function<bool(const std::stop_token&)> may_go_on_;
  base::Clock& clock_;
  LineWriter writer_;
  std::uint64_t position_ = 0;
  bool done_ = false;
  base::SteadyTime asked_;
  base::SteadyTime last_output_;
};

}  // namespace gpupool::keeper
