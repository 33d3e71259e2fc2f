// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "api/log_push_format.h"
#include "base/clock.h"

namespace gpupool::keeper {

// Writes chunks as the API server writes a container's log (pods/log): with timestamps, each line has its
// time before it, and lines of the two streams do not mix. Without, the bytes are written as they were
// printed. Where output is lost, a line of our own says so. One thread.
class LineWriter {
 public:
  struct Options {
    bool timestamps = false;
    std::optional<base::WallTime> since = std::nullopt;  // with timestamps: older lines are left out
    std::uint64_t skip_lines = 0;                        // with timestamps
    bool in_the_middle = false;  // the first chunk may begin within a line, which is left out
  };
  explicit LineWriter(const Options& options);

  void add(const api::log_push::Chunk& chunk, std::string& out);
  // No more chunks come: lines without an end are written.
  void finish(std::string& out);

  std::uint64_t lines() const { return lines_; }  // that were written or skipped

 private:
  struct Line {
    std::string text = {};
    std::uint64_t unix_ns = 0;
    bool begun = false;
    bool left_out = false;  // up to its end
  };

  void add_text(Line& line, const api::log_push::Chunk& chunk, std::string& out);
  void end_line(Line& line, std::string& out);

  Options options_;
  std::array<Line, 2> open_;  // of stdout and stderr
  std::uint64_t lines_ = 0;
  bool at_line_begin_ = true;  // without timestamps
};

// "2026-01-02T03:04:05.000000006Z"
std::string rfc3339_nano(std::uint64_t unix_ns);

}  // namespace gpupool::keeper
