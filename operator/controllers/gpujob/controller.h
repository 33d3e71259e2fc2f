// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "controllers/gpujob/cluster_actions.h"
#include "controllers/gpujob/explainer.h"
#include "controllers/gpujob/job_metrics.h"
#include "controllers/gpujob/node_readiness.h"
#include "controllers/gpujob/reconciler.h"
#include "controllers/queue/pool_queue.h"
#include "controllers/setup.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The controller of GpuJobs. Reconciles a job when it, its pool, its children, its workers, a node of its
// lease or its verdict in the queue has changed.
class GpuJobController {
 public:
  struct Options {
    int threads = 2;  // reconcile threads
    WorkerSettings workers;
    Money money = {};
  };
  GpuJobController(const Setup& setup, PoolQueue& pool_queue, const Options& options);

  runtime::WorkQueue& queue() { return controller_.queue(); }
  // How long ended jobs have run. Thread-safe.
  planning::RunTimes::ByKind history() { return explainer_.history(); }

 private:
  void wake_neighbours(const runtime::Change<api::GpuJob>& change);
  void on_job(const runtime::Change<api::GpuJob>& change);
  void on_node(const runtime::Change<api::Node>& change);
  void on_report(const runtime::Change<api::GpuNode>& change);
  void on_pool(const runtime::Change<api::GpuPool>& change);
  template <class K>
  void watch_children(runtime::Informer<K>& informer);

  Caches& caches_;
  NodeReadiness readiness_;
  JobMetrics metrics_;
  Explainer explainer_;
  ClusterActions actions_;
  GpuJobReconciler reconciler_;
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
