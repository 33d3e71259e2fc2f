#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "inventory/gpu_source.h"

namespace gpupool::agent {

// What wakes the agent between its ticks. Thread-safe; wait() is for one thread.
class Inbox {
 public:
  struct Mail {
    std::vector<inventory::XidEvent> xids;
    bool reload = false;
  };

  void add(std::vector<inventory::XidEvent> xids);
  void ask_reload();
  // Something happened that will show in a moment: several of them make one look.
  void look_soon(base::SteadyTime when);

  // What has come, as soon as there is any, at `tick`, at the time of look_soon(), or when stop is requested.
  Mail wait(base::Clock& clock, base::SteadyTime tick, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Mail mail_;
  std::optional<base::SteadyTime> soon_;
};

}  // namespace gpupool::agent
