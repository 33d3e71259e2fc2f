// SPDX-License-Identifier: Apache-2.0
#include "base/backoff.h"

#include <algorithm>

namespace gpupool::base {

namespace {

// splitmix64 (Steele, Lea, Flood 2014): one word of state and any seed is good.
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// In [0, 1).
double next_fraction(std::uint64_t& state) {
  return static_cast<double>(next_random(state) >> 11U) * 0x1.0p-53;
}

Duration scaled(Duration duration, double by) {
  const double ticks = static_cast<double>(duration.count()) * by;
  constexpr double kMax = 0x1.0p62;  // well below the largest Duration
  return Duration(static_cast<Duration::rep>(std::min(ticks, kMax)));
}

}  // namespace

Backoff::Backoff(Limits limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

Duration Backoff::next(SteadyTime now) {
  if (failed_before_ && limits_.reset_after > Duration::zero() && now - last_failure_ > limits_.reset_after) {
    reset();
  }
  delay_ = std::min(failed_before_ ? scaled(delay_, limits_.factor) : limits_.initial, limits_.cap);
  failed_before_ = true;
  last_failure_ = now;
  return delay_ + scaled(delay_, limits_.jitter * next_fraction(random_));
}

void Backoff::reset() {
  failed_before_ = false;
  delay_ = {};
}

}  // namespace gpupool::base
