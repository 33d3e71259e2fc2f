#pragma once

#include <functional>

#include "base/pace.h"
#include "controllers/cluster/pool_queue.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Keeps a GpuPool's status true, wakes the jobs whose turn has changed, and holds a pool that is being
// deleted until its jobs have given their nodes back.
class GpuPoolReconciler final : public runtime::Reconciler {
 public:
  using Wake = std::function<void(const api::ObjectKey& job)>;

  GpuPoolReconciler(kube::Client& client, PoolQueue& queue, base::Clock& clock, Wake wake);
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  base::Result<void> set_finalizer(const api::GpuPool& pool, bool wanted, std::stop_token stop);

  kube::Client& client_;
  PoolQueue& queue_;
  base::Clock& clock_;
  Wake wake_;
  base::Pace counts_;  // of nodes and jobs, by pool
};

}  // namespace gpupool::controllers
