// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace gpupool::base {

// Limits each of many things to once per interval. Remembers only what was done within the last interval.
// Thread-safe.
class Pace {
 public:
  Pace(Duration interval, const Clock& clock) : interval_(interval), clock_(clock) {}

  void done(const std::string& what);
  // Returns how long to wait; zero: it may be done now.
  Duration until_next(const std::string& what) const;

 private:
  const Duration interval_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, SteadyTime> last_ GPUPOOL_GUARDED_BY(mutex_);
  // In order of time; the newest entry of a thing counts.
  std::deque<std::pair<SteadyTime, std::string>> in_order_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::base
