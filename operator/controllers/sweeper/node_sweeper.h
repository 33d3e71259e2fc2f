#pragma once

#include "controllers/cluster/caches.h"
#include "controllers/cluster/node_leases.h"
#include "controllers/cluster/worker_pods.h"
#include "controllers/sweeper/foreign_pods.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Removes taints, labels and annotations of ours that no living lease explains (design section 5.8): only
// after a live read of the job made after the node was read, with that node's version, and never while a pod
// of that value has not ended there. On nodes that a lease explains it looks for others' pods. Keys are
// nodes.
class NodeSweeper final : public runtime::Reconciler {
 public:
  NodeSweeper(kube::Client& client, Caches& caches, NodeLeases& nodes, WorkerPods& pods, ForeignPods& foreign)
      : client_(client), caches_(caches), nodes_(nodes), pods_(pods), foreign_(foreign) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  // The job of this UID as the server has it now; null if it is gone.
  base::Result<std::shared_ptr<const api::GpuJob>> live_job(const api::Node& node, const std::string& uid,
                                                            std::stop_token stop);
  // False while something of the value may still run on the node. ns: of its job; empty: unknown.
  base::Result<bool> end_pods(const std::string& node, const std::string& value, const std::string& ns,
                              std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
  NodeLeases& nodes_;
  WorkerPods& pods_;
  ForeignPods& foreign_;
};

// True if the node carries anything under our keys.
bool marked(const api::Node& node);

}  // namespace gpupool::controllers
