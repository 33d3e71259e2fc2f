// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "worker_logs/log_line.h"

namespace gpupool::logs {

// Puts the lines of several logs in the order of their times, as far as that costs little time. Lines of one
// log keep their order. A line is due when it has waited for `window`, or when every open log has a line
// waiting: then no earlier one can come. So a silent log delays the others by `window` only. Not thread-safe.
// Pure.
class LineMerger {
 public:
  using Receiver = std::function<void(std::size_t log, LogLine line)>;

  explicit LineMerger(base::Duration window) : window_(window) {}

  // Returns the number of a new log: 0, 1, 2, ...
  std::size_t open();
  // REQUIRES: the log is open. `arrived` is not before that of the log's line before.
  void add(std::size_t log, LogLine line, base::SteadyTime arrived);
  // No more lines of this log come; those that wait are still passed on.
  void close(std::size_t log);

  // Passes on the lines that are due.
  void take_due(base::SteadyTime now, const Receiver& receiver);
  // When the first of the waiting lines is due; nothing if none waits.
  std::optional<base::SteadyTime> next_due() const;

  // Bytes of the lines that wait.
  std::size_t waiting_bytes(std::size_t log) const { return logs_[log].bytes; }
  bool empty() const { return waiting_ == 0; }

 private:
  struct Waiting {
    LogLine line;
    base::SteadyTime arrived;
  };
  struct Log {
    std::deque<Waiting> lines;
    std::size_t bytes = 0;
    bool open = true;
  };

  std::size_t count_due(base::SteadyTime now) const;
  std::size_t count_unknown() const;
  Waiting take_first(std::size_t log);

  base::Duration window_;
  std::vector<Log> logs_;
  std::size_t waiting_ = 0;
};

}  // namespace gpupool::logs
