#include "controllers/cluster/pod_stopwatch.h"

namespace gpupool::controllers {

base::Duration PodStopwatch::go_on(const std::string& pod_uid) {
  const auto now = clock_.now();
  const std::lock_guard lock(mutex_);
  return now - since_.try_emplace(pod_uid, now).first->second;
}

void PodStopwatch::reset(const std::string& pod_uid) {
  const std::lock_guard lock(mutex_);
  since_.erase(pod_uid);
}

}  // namespace gpupool::controllers
