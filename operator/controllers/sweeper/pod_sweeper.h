#pragma once

#include "controllers/cluster/caches.h"
#include "controllers/cluster/worker_pods.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Ends worker pods whose job is gone (somebody took the job's finalizer off by hand): without it their own
// finalizer would keep them for ever. Keys are pods.
class PodSweeper final : public runtime::Reconciler {
 public:
  PodSweeper(kube::Client& client, Caches& caches, WorkerPods& pods)
      : client_(client), caches_(caches), pods_(pods) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  kube::Client& client_;
  Caches& caches_;
  WorkerPods& pods_;
};

}  // namespace gpupool::controllers
