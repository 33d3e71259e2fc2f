#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace gpupool::base {

// Bounds how many lines of one key are written: a burst, then one for each interval. Thread-safe.
class LogLimit {
 public:
  struct Rate {
    int burst = 20;
    Duration interval = std::chrono::seconds(3);
    // Further keys share one allowance, so that a variable text in a key costs no memory without end.
    std::size_t max_keys = 500;
  };

  LogLimit() : LogLimit(Rate{}) {}
  explicit LogLimit(Rate rate) : rate_(rate) {}

  // Nothing: do not write the line. Else how many were left out since the last one that was written.
  std::optional<std::uint64_t> admit(std::string_view key, SteadyTime now);

 private:
  struct Allowance {
    SteadyTime paid_until{};  // each line written moves it on by an interval
    std::uint64_t left_out = 0;
  };

  Allowance& allowance(std::string_view key);

  const Rate rate_;
  std::mutex mutex_;
  std::map<std::string, Allowance, std::less<>> by_key_;
  Allowance others_;
};

}  // namespace gpupool::base
