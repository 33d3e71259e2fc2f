// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "controllers/cluster/caches.h"
#include "runtime/events/recorder.h"

namespace gpupool::controllers {

// Reports foreign pods that start on a node while a job holds it exclusively: pods with spec.nodeName, or
// with a toleration of every taint. They are not changed; that is the cluster's policy. Each is counted, and
// reported once as an event of the job. Pods that ran on the node before the job, of DaemonSets, and static
// pods of the kubelet are not reported. No requests besides the events. Thread-safe.
class ForeignPods {
 public:
  ForeignPods(const Caches& caches, runtime::EventRecorder& events, base::Metrics& metrics);

  // Call when a job holds the node and pods on it have changed.
  void look(const api::Node& node, const api::GpuJob& holder);
  // Call when no job holds the node any more.
  void forget(const std::string& node);

 private:
  struct Seen {
    std::string holder = {};          // UID of the job that this entry belongs to
    std::set<std::size_t> told = {};  // hashes of the UIDs of reported pods
  };
  void tell(const std::string& node, const api::GpuJob& holder, std::size_t pod, const api::ObjectKey& key);

  const Caches& caches_;
  runtime::EventRecorder& events_;
  base::Counter& found_;
  base::Mutex mutex_;
  std::map<std::string, Seen> nodes_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::controllers
