// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "base/mutex.h"

namespace gpupool::base {

bool Clock::sleep_for(Duration how_long, std::stop_token stop) {
  const SteadyTime start = now();
  // Without this check, start + Duration::max() would overflow into the past.
  std::optional<SteadyTime> deadline;
  if (how_long < SteadyTime::max() - start) deadline = start + how_long;

  Mutex mutex;
  std::condition_variable_any never;
  MutexLock lock(mutex);
  wait(lock.native(), never, std::move(stop), deadline, [] { return false; });
  return deadline && now() >= *deadline;
}

SteadyTime SystemClock::now() const { return std::chrono::steady_clock::now(); }

WallTime SystemClock::wall() const { return std::chrono::system_clock::now(); }

bool SystemClock::wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                       std::stop_token stop, std::optional<SteadyTime> deadline,
                       const std::function<bool()>& ready) {
  if (deadline) return changed.wait_until(lock, std::move(stop), *deadline, ready);
  return changed.wait(lock, std::move(stop), ready);
}

}  // namespace gpupool::base
