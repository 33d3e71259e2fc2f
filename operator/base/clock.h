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

// Time as an argument, so that no test sleeps. Steady time drives logic; wall time is only for stamps that
// others read. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime now() const = 0;
  virtual WallTime wall() const = 0;

  // Waits until `ready` holds, `deadline` (none: never) passes or stop is requested; returns ready().
  // `ready` is called with `lock` held, as std::condition_variable_any does.
  virtual bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                    std::stop_token stop, std::optional<SteadyTime> deadline,
                    const std::function<bool()>& ready) = 0;

  // False if stop was requested before the time was over.
  bool sleep_for(Duration how_long, std::stop_token stop);
};

class SystemClock final : public Clock {
 public:
  SteadyTime now() const override;
  WallTime wall() const override;
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<SteadyTime> deadline, const std::function<bool()>& ready) override;
};

}  // namespace gpupool::base
