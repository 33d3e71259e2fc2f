// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace gpupool::controllers {

// How long this process has seen each pod, or each lease, in one state, by its steady clock: time stamps in a
// pod's status come from its kubelet's clock. A new process starts counting again. Thread-safe.
class PodStopwatch {
 public:
  explicit PodStopwatch(const base::Clock& clock) : clock_(clock) {}

  // Call while the pod or lease is in the state. Returns zero at the first call.
  base::Duration go_on(const std::string& id);
  // Call when it is not in the state or is gone.
  void reset(const std::string& id);

 private:
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::unordered_map<std::string, base::SteadyTime> since_ GPUPOOL_GUARDED_BY(mutex_);  // by id
};

}  // namespace gpupool::controllers
