// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace gpupool::bench::fair {

// splitmix64: the same numbers on every machine, which std:: distributions do not promise. Not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  // From 0 to limit - 1. REQUIRES: limit > 0.
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
  }
  bool chance(std::int64_t percent) { return below(100) < percent; }
  // From 0 to 1, both excluded.
  double part() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }
  // Box-Muller; the second value of each pair is not used.
  double normal() {
    const double length = std::sqrt(-2 * std::log(part()));
    return length * std::cos(6.283185307179586 * part());
  }

 private:
  std::uint64_t state_;
};

}  // namespace gpupool::bench::fair
