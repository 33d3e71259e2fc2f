// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "worker_logs/line_merger.h"

namespace gpupool::logs {

// Where the threads that read logs meet the one that writes lines. A reader that is 1 MiB ahead waits, so
// that a slow terminal slows the readers and not the jobs. Thread-safe.
class LineHub {
 public:
  struct Item {
    std::size_t log;
    LogLine line;
  };

  LineHub(base::Duration window, base::Clock& clock) : clock_(clock), merger_(window) {}

  std::size_t open();
  // Blocks while the log has too much waiting. False if stop was requested meanwhile.
  bool add(std::size_t log, LogLine line, const std::stop_token& stop);
  void close(std::size_t log);
  // Lets wait() return.
  void wake();

  // The lines that are due now, in order; all: those that wait, too.
  std::vector<Item> take_due(bool all);
  // Waits until lines are due, wake() or close() was called, the deadline is over, or stop is requested. Does
  // not look at lines before `earliest`, so that many lines are written at once.
  void wait(base::SteadyTime earliest, base::SteadyTime deadline, const std::stop_token& stop);

 private:
  base::Clock& clock_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable_any drained_;
  LineMerger merger_ GPUPOOL_GUARDED_BY(mutex_);
  bool woken_ GPUPOOL_GUARDED_BY(mutex_) = false;
  bool first_line_ GPUPOOL_GUARDED_BY(mutex_) = false;  // has arrived where none waited
};

}  // namespace gpupool::logs
