#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "runtime/events/recorder.h"

namespace gpupool::controllers {

// Reports pods that came to a node while a job holds it alone: through a hole in the taint, with nodeName, or
// with a toleration of everything. They are not touched; that is the cluster's own policy. Each is told
// once, as an event of the job, and counted. The node's pods are listed once for each holder; from then on
// came() tells. Thread-safe.
class ForeignPods {
 public:
  ForeignPods(kube::Client& client, runtime::EventRecorder& events, base::Metrics& metrics);

  base::Result<void> look(const api::Node& node, const api::GpuJob& holder, std::stop_token stop);
  // Nobody holds the node any more.
  void forget(const std::string& node);

  // The pod has come to a node that somebody holds; look() there.
  void came(const std::shared_ptr<const api::Pod>& pod);
  // Some may have come unseen: look() at all nodes that somebody holds.
  void doubt();

 private:
  struct Seen {
    std::string holder = {};  // UID; of whose time everything here is
    bool listed = false;
    std::set<std::string> told = {};                              // UIDs
    std::vector<std::shared_ptr<const api::Pod>> newcomers = {};  // not looked at yet
  };
  base::Result<void> list(const std::string& node, const api::GpuJob& holder, std::stop_token stop);
  void tell(const std::string& node, const api::GpuJob& holder, const api::Pod& pod);

  kube::Client& client_;
  runtime::EventRecorder& events_;
  base::Counter& found_;
  std::mutex mutex_;
  std::map<std::string, Seen> nodes_;
};

}  // namespace gpupool::controllers
