// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/setup.h"
#include "controllers/sweep/reconciler.h"
#include "controllers/sweep/sweep_metrics.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The controller of GpuSweeps. Reconciles a sweep when it has changed, or one of its jobs is there, has
// ended, needs a correction or is gone.
class GpuSweepController {
 public:
  GpuSweepController(const Setup& setup, AskWorkers ask);

 private:
  void on_job(const runtime::Change<api::GpuJob>& change);

  SweepMetrics metrics_;
  SweepReconciler reconciler_;
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
