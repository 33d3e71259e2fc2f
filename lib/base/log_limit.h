// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"

namespace gpupool::base {

// Bounds how many lines of one key are written: first a burst, then one line per interval. Thread-safe.
class LogLimit {
 public:
  struct Rate {
    int burst = 20;
    Duration interval = std::chrono::seconds(3);
    // Keys beyond this number share one allowance, so that memory stays bounded if a key contains variable
    // text.
    std::size_t max_keys = 500;
  };

  LogLimit() : LogLimit(Rate{}) {}
  explicit LogLimit(Rate rate) : rate_(rate) {}

  // Returns nothing if the line must not be written; else how many lines were left out since the last one
  // written.
  std::optional<std::uint64_t> admit(std::string_view key, SteadyTime now);

 private:
  struct Allowance {
    SteadyTime paid_until{};  // each line written adds one interval
    std::uint64_t left_out = 0;
  };

  Allowance& allowance(std::string_view key) GPUPOOL_REQUIRES(mutex_);

  const Rate rate_;
  Mutex mutex_;
  std::map<std::string, Allowance, std::less<>> by_key_ GPUPOOL_GUARDED_BY(mutex_);
  Allowance others_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::base
