// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "inventory/gpu_source.h"

namespace gpupool::agent {

// Wakes the agent between its ticks. Any thread adds: the thread that waits for the driver's errors, SIGHUP
// and the watch of the configuration file, gRPC's threads after an allocation. Thread-safe; wait() is for the
// agent's thread.
class Inbox {
 public:
  struct Mail {
    std::vector<inventory::ErrorEvent> errors;
    bool reload = false;
  };

  void add(std::vector<inventory::ErrorEvent> errors);
  void ask_reload();
  // Ends wait() at `when`. Calls before that change nothing: several events make one look.
  void look_soon(base::SteadyTime when);

  // Blocks until there is mail, until `tick`, until the time of look_soon(), or until stop is requested.
  // Returns the mail and empties the inbox.
  Mail wait(base::Clock& clock, base::SteadyTime tick, const std::stop_token& stop);

 private:
  bool any_mail() const GPUPOOL_REQUIRES(mutex_) { return mail_.reload || !mail_.errors.empty(); }

  base::Mutex mutex_;
  std::condition_variable_any changed_;
  Mail mail_ GPUPOOL_GUARDED_BY(mutex_);
  std::optional<base::SteadyTime> soon_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::agent
