// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/cluster/caches.h"
#include "controllers/cluster/worker_pods.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Ends worker pods whose job is gone because somebody removed the job's finalizer by hand. Otherwise their
// own finalizer would keep them for ever. Keys are pods. Runs on one reconcile thread.
class PodSweeper final : public runtime::Reconciler {
 public:
  PodSweeper(kube::Client& client, Caches& caches, const base::Clock& clock)
      : client_(client), caches_(caches), pods_(client, caches, clock) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  kube::Client& client_;
  Caches& caches_;
  WorkerPods pods_;
};

}  // namespace gpupool::controllers
