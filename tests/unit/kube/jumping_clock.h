// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

#include "base/clock.h"

namespace gpupool::test {

// A clock whose waits end at once: its time jumps to the deadline. Records the length of each wait. For one
// thread.
class JumpingClock final : public base::Clock {
 public:
  base::SteadyTime now() const override { return now_; }
  base::WallTime wall() const override {
    return base::WallTime{} + std::chrono::duration_cast<base::WallTime::duration>(now_.time_since_epoch());
  }
  bool wait(std::unique_lock<std::mutex>&, std::condition_variable_any&, std::stop_token stop,
            std::optional<base::SteadyTime> deadline, const std::function<bool()>& ready) override {
    if (!stop.stop_requested() && deadline) {
      waits_.push_back(*deadline - now_);
      now_ = *deadline;
    }
    return ready();
  }
  const std::vector<base::Duration>& waits() const { return waits_; }

 private:
  base::SteadyTime now_{std::chrono::hours(1)};
  std::vector<base::Duration> waits_;
};

}  // namespace gpupool::test
