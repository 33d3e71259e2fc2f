#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"

namespace gpupool::controllers {

// For how long this process has seen each pod in a certain state, by its steady clock: stamps in a pod's
// status are of its kubelet's clock. A new operator begins to count anew. Thread-safe.
class PodStopwatch {
 public:
  explicit PodStopwatch(const base::Clock& clock) : clock_(clock) {}

  // The pod is in that state: zero at the first call.
  base::Duration go_on(const std::string& pod_uid);
  // It is not, or is gone.
  void reset(const std::string& pod_uid);

 private:
  const base::Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, base::SteadyTime> since_;  // by UID
};

}  // namespace gpupool::controllers
