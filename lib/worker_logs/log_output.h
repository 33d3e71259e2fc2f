// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "worker_logs/log_line.h"

namespace gpupool::logs {

// Where a follower writes. Called on one thread. Texts may hold anything that others wrote.
class LogOutput {
 public:
  virtual ~LogOutput() = default;
  virtual void line(std::int64_t rank, const LogLine& line) = 0;
  // What happens to the job.
  virtual void note(const std::string& text) = 0;
  // What prevents that all lines are shown.
  virtual void problem(const std::string& text) = 0;
  // So many ranks are not shown, because at most `limit` logs are read at once.
  virtual void left_out(std::int64_t ranks, std::int64_t limit) = 0;
  // The lines that follow are of the job as a whole, not of a rank.
  virtual void without_ranks() = 0;
  // False if nothing more can be written.
  virtual bool flush() = 0;
};

}  // namespace gpupool::logs
