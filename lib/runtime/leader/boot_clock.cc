// SPDX-License-Identifier: Apache-2.0
#include "runtime/leader/boot_clock.h"

#include <ctime>

namespace gpupool::runtime {

base::SteadyTime BootClock::now() const {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return base::SteadyTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

base::WallTime BootClock::wall() const { return std::chrono::system_clock::now(); }

bool BootClock::wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                     std::stop_token stop, std::optional<base::SteadyTime> deadline,
                     const std::function<bool()>& ready) {
  if (!deadline) return changed.wait(lock, std::move(stop), ready);
  return changed.wait_for(lock, std::move(stop), *deadline - now(), ready);
}

}  // namespace gpupool::runtime
