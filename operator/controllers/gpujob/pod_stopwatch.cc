// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/pod_stopwatch.h"

namespace gpupool::controllers {

base::Duration PodStopwatch::go_on(const std::string& id) {
  const auto now = clock_.now();
  const base::MutexLock lock(mutex_);
  return now - since_.try_emplace(id, now).first->second;
}

void PodStopwatch::reset(const std::string& id) {
  const base::MutexLock lock(mutex_);
  since_.erase(id);
}

}  // namespace gpupool::controllers
