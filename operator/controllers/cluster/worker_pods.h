#pragma once

#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "api/core/pod.h"
#include "base/clock.h"
#include "kube/client.h"

namespace gpupool::controllers {

// Deletes worker pods and takes their finalizer off. Remembers for some seconds what it has done, because the
// cache shows it only later. Thread-safe.
class WorkerPods {
 public:
  WorkerPods(kube::Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

  // With the pod's own grace period; quickly: with 1 s, never forced.
  base::Result<void> remove(const api::Pod& pod, bool quickly, std::stop_token stop);
  // For pods that have ended: their evidence has been used.
  base::Result<void> take_finalizer_off(const api::Pod& pod, std::stop_token stop);
  // Changes an annotation, so that the kubelet looks at a pod that it should have ended.
  base::Result<void> nudge(const api::Pod& pod, std::stop_token stop);

 private:
  bool done_lately(const std::string& what);
  void note(const std::string& what);

  kube::Client& client_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, base::SteadyTime> done_;
};

}  // namespace gpupool::controllers
