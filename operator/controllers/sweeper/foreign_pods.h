#pragma once

#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "runtime/events/recorder.h"

namespace gpupool::controllers {

// Reports pods that came to a node while a job holds it alone: through a hole in the taint, with nodeName, or
// with a toleration of everything. They are not touched; that is the cluster's own policy. Each is told
// once, as an event of the job, and counted. Thread-safe.
class ForeignPods {
 public:
  ForeignPods(kube::Client& client, runtime::EventRecorder& events, base::Metrics& metrics);

  // Lists the node's pods on the server.
  base::Result<void> look(const api::Node& node, const api::GpuJob& holder, std::stop_token stop);
  // Nobody holds the node any more.
  void forget(const std::string& node);

 private:
  bool is_news(const std::string& node, const std::string& uid);

  kube::Client& client_;
  runtime::EventRecorder& events_;
  base::Counter& found_;
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> told_;  // by node: UIDs
};

}  // namespace gpupool::controllers
