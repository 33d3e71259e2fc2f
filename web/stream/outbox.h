// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"

namespace gpupool::web {

// What is to be sent to one tab. A tab that reads slowly makes those wait that push, so memory is bounded and
// nothing is lost. Thread-safe.
class Outbox {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // bytes that may wait

  explicit Outbox(base::Clock& clock) : clock_(clock) {}

  // Adds one line, without its '\n'. Blocks while kMost bytes or more wait. False: stop was requested.
  bool push(const std::string& line, const std::stop_token& stop);
  // All lines that wait, each with its '\n'. Waits for one for at most `most`; empty: there was none.
  std::string take(base::Duration most, const std::stop_token& stop);

 private:
  base::Clock& clock_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::string waiting_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::web
