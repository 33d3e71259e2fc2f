#pragma once

#include "base/clock.h"

namespace gpupool::runtime {

// Like SystemClock, but now() goes on while the machine is suspended (CLOCK_BOOTTIME): a leader that slept
// must know that its term is over. A wait that a suspension interrupts may end late by what was left of it.
class BootClock final : public base::Clock {
 public:
  base::SteadyTime now() const override;
  base::WallTime wall() const override;
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<base::SteadyTime> deadline, const std::function<bool()>& ready) override;
};

}  // namespace gpupool::runtime
