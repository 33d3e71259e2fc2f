// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"

namespace gpupool::runtime {

// Like SystemClock, but now() also advances while the machine is suspended (CLOCK_BOOTTIME), so that a leader
// notices that its term has ended. A wait during a suspension may end late, by the time that was left of it.
class BootClock final : public base::Clock {
 public:
  base::SteadyTime now() const override;
  base::WallTime wall() const override;
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<base::SteadyTime> deadline, const std::function<bool()>& ready) override;
};

}  // namespace gpupool::runtime
