// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace gpupool::command {

// A stop token that is also stopped when a time is over. Thread-safe.
class Deadline {
 public:
  // limit: nothing or zero for none. REQUIRES: clock outlives this.
  Deadline(std::optional<std::chrono::milliseconds> limit, base::Clock& clock, const std::stop_token& outer)
      : forward_(outer, Forward{source_}) {
    if (!limit || limit->count() == 0) return;
    timer_ = std::jthread([this, wait = *limit, &clock](std::stop_token over) {
      if (!clock.sleep_for(wait, std::move(over))) return;
      expired_ = true;
      source_.request_stop();
    });
  }

  std::stop_token token() const { return source_.get_token(); }
  // The time is over; false if the outer token was stopped first.
  bool expired() const { return expired_; }

 private:
  struct Forward {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Forward> forward_;
  std::atomic<bool> expired_{false};
  std::jthread timer_;
};

}  // namespace gpupool::command
