// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

namespace gpupool::base {

using Duration = std::chrono::steady_clock::duration;
using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

// The source of time, passed as an argument so that tests need not sleep. Steady time drives logic. Wall time
// is only for time stamps that others read. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime now() const = 0;
  virtual WallTime wall() const = 0;

  // Waits until `ready` returns true, `deadline` passes (nullopt: never) or stop is requested. Returns
  // ready().
  // REQUIRES: `lock` is held. `ready` is called with it held; `changed` is notified after each change that
  // `ready` depends on.
  virtual bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                    std::stop_token stop, std::optional<SteadyTime> deadline,
                    const std::function<bool()>& ready) = 0;

  // Returns false if stop was requested before the time was over.
  bool sleep_for(Duration how_long, std::stop_token stop);
};

// The clocks of the machine.
class SystemClock final : public Clock {
 public:
  SteadyTime now() const override;
  WallTime wall() const override;
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<SteadyTime> deadline, const std::function<bool()>& ready) override;
};

}  // namespace gpupool::base
