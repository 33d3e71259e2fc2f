#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"

namespace gpupool::base {

// When each of many things may be done again: an interval after it was done last. Remembers only what was
// done within the interval. Thread-safe.
class Pace {
 public:
  Pace(Duration interval, const Clock& clock) : interval_(interval), clock_(clock) {}

  void done(const std::string& what);
  // Zero: now.
  Duration until_next(const std::string& what) const;

 private:
  const Duration interval_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, SteadyTime> last_;
  std::deque<std::pair<SteadyTime, std::string>> in_order_;  // of time; the newest of a thing counts
};

}  // namespace gpupool::base
