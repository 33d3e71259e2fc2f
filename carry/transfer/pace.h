// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "base/clock.h"
#include "failure/failure.h"

namespace gpupool::carry {

// How tries wait, passed as an argument so that tests need not.
struct Waiting {
  base::Clock* clock = nullptr;    // not owned
  std::function<double()> random;  // in [0, 1)
};

// The machine's clock, and random numbers that differ between processes and threads. Thread-safe.
const Waiting& real_waiting();

// The waits between the tries of one request: random ones of at most 0.2 s, 0.4 s and so on up to 20 s. Not
// thread-safe. `waiting` must outlive it.
class Pace {
 public:
  Pace(base::SteadyTime deadline, const Waiting& waiting) : deadline_(deadline), waiting_(waiting) {}

  std::chrono::milliseconds left() const;
  base::WallTime wall() const { return waiting_.clock->wall(); }
  // Bytes came that had not come before: waits begin anew at 0.2 s.
  void progress() { failures_ = 0; }
  // Waits after a try that failed with `last`, at least `least`. Returns `last`, with what was done, if it is
  // not kUnavailable or if the wait would reach the deadline; kStopped if stop is requested.
  Outcome<void> wait(const Failure& last, std::optional<std::chrono::milliseconds> least,
                     std::stop_token stop);

 private:
  base::SteadyTime deadline_;
  const Waiting& waiting_;
  int failures_ = 0;
  std::int64_t tries_ = 0;
};

}  // namespace gpupool::carry
