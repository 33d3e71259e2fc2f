// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/gpupool/reconciler.h"
#include "controllers/queue/pool_queue.h"
#include "controllers/setup.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The controller of GpuPools. Reconciles a pool when it, a job in its queue, or a node that it selects has
// changed.
class GpuPoolController {
 public:
  // history: for estimates in pools with spec.queue.
  GpuPoolController(
      const Setup& setup, PoolQueue& pool_queue,
      planning::RunTimes::Source history = [] { return planning::RunTimes::ByKind(); });

  runtime::WorkQueue& queue() { return controller_.queue(); }

 private:
  void on_job(const runtime::Change<api::GpuJob>& change);
  void on_node(const runtime::Change<api::Node>& change);
  void on_pool(const runtime::Change<api::GpuPool>& change);
  void on_pod(const runtime::Change<api::Pod>& change);
  // Reconciles the pools that select the node, also those that do not use it.
  void wake_pools_of(const api::Node& node, runtime::Priority priority);

  Caches& caches_;
  GpuPoolReconciler reconciler_;
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
