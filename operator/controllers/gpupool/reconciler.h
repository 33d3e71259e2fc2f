// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/pace.h"
#include "controllers/gpupool/demand_pricer.h"
#include "controllers/gpupool/pool_metrics.h"
#include "controllers/gpupool/turn_forecaster.h"
#include "controllers/queue/pool_queue.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Keeps the status of a GpuPool up to date, wakes jobs whose verdict has changed, and keeps the finalizer of
// a pool that is being deleted until its jobs have given their nodes back. Runs on one reconcile thread.
class GpuPoolReconciler final : public runtime::Reconciler {
 public:
  // history: for estimates in pools with spec.queue or spec.price.demand. jobs: for the latter.
  GpuPoolReconciler(
      kube::Client& client, PoolQueue& queue, base::Clock& clock, base::Metrics& metrics,
      planning::RunTimes::Source history = [] { return planning::RunTimes::ByKind(); },
      DemandPricer::Jobs jobs = [] { return std::vector<std::shared_ptr<const api::GpuJob>>(); });
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  base::Result<void> set_finalizer(const api::GpuPool& pool, bool wanted, std::stop_token stop);

  kube::Client& client_;
  PoolQueue& queue_;
  base::Clock& clock_;
  base::Pace counts_;  // counts of nodes and jobs, by pool
  PoolMetrics metrics_;
  DemandPricer pricer_;
  TurnForecaster forecaster_;
};

}  // namespace gpupool::controllers
