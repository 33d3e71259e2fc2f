// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/rfc3339.h"
#include "worker_logs/rank_reader.h"

namespace gpupool::test {

// The log of one container as a kubelet serves it: from a whole second on, with times, from the newest file.
// Thread-safe.
class PlayedLog {
 public:
  struct Line {
    base::WallTime time;
    std::string text;
  };

  static std::string stamp(base::WallTime time) {
    // to_rfc3339_micro has no nanoseconds; a kubelet has.
    auto text = base::to_rfc3339_micro(time);
    const auto nanos = (time.time_since_epoch() % std::chrono::microseconds(1)).count();
    std::string digits = std::to_string(nanos);
    digits.insert(0, 3 - digits.size(), '0');
    text.insert(text.find('Z'), digits);
    return text;
  }

  void print(Line line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  // Lines before this one are in a file that is not served.
  void rotate(std::size_t first) {
    const std::lock_guard lock(mutex_);
    first_ = first;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

  // What the server would send now.
  std::string served(const kube::LogOptions& options) const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (std::size_t i = first_; i < lines_.size(); ++i) {
      const auto& line = lines_[i];
      if (options.since && line.time < std::chrono::floor<std::chrono::seconds>(*options.since)) continue;
      text += stamp(line.time) + " " + line.text + "\n";
    }
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Line> lines_;
  std::size_t first_ = 0;
};

}  // namespace gpupool::test
