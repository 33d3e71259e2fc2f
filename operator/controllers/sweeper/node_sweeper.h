// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/cluster/caches.h"
#include "controllers/cluster/node_leases.h"
#include "controllers/cluster/worker_pods.h"
#include "controllers/sweeper/foreign_pods.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Removes lease marks that no job's lease explains (docs/protocol.md#step-8-sweep). Reads the node first,
// then the job, both from the server, and writes with the version of the node that it has read. Never removes
// a mark while a pod of that lease value has not ended there. On nodes with a valid lease it checks for
// foreign pods. Keys are nodes. Runs on one reconcile thread.
class NodeSweeper final : public runtime::Reconciler {
 public:
  NodeSweeper(kube::Client& client, Caches& caches, ForeignPods& foreign, const base::Clock& clock)
      : client_(client),
        caches_(caches),
        foreign_(foreign),
        writer_(client, caches),
        nodes_(writer_),
        pods_(client, caches, clock) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  // Reads the job with this UID from the server; null if it is gone.
  base::Result<std::shared_ptr<const api::GpuJob>> live_job(const api::Node& node, const std::string& uid,
                                                            std::stop_token stop);
  // Deletes the pods of the lease value on the node. Returns false while one of them may still run. ns:
  // namespace of the job; empty: unknown.
  base::Result<bool> end_pods(const std::string& node, const std::string& value, const std::string& ns,
                              std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
  ForeignPods& foreign_;
  NodeWriter writer_;
  NodeLeases nodes_;
  WorkerPods pods_;
};

}  // namespace gpupool::controllers
