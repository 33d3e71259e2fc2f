// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/pace.h"
#include "controllers/cluster/caches.h"
#include "controllers/sweep/live_metrics.h"
#include "controllers/sweep/sweep_metrics.h"
#include "controllers/sweep/sweep_writer.h"
#include "planning/sweep/plan_sweep.h"
#include "runtime/controller/reconciler.h"
#include "runtime/events/recorder.h"

namespace gpupool::controllers {

// Reconciles one GpuSweep: begins trials, records how they ended, removes their jobs. Writes a status at most
// once a second, but the beginning and the end of a sweep at once. Called by one reconcile thread.
class SweepReconciler final : public runtime::Reconciler {
 public:
  SweepReconciler(kube::Client& client, Caches& caches, runtime::EventRecorder& events, SweepMetrics& metrics,
                  AskWorkers ask, const base::Clock& clock);
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  using Sweep = SweepWriter::Sweep;
  // The parameters of the trials of one spec.
  struct Space {
    std::string spec_hash;
    std::shared_ptr<const planning::TrialSpace> trials;
  };
  // What this reconcile has learned that the caches do not show.
  struct Learned {
    std::set<std::int64_t> gone;
    std::set<std::int64_t> taken;
    std::optional<api::Problem> problem;
  };

  // Why a sweep that has not begun cannot run as it is written.
  std::optional<api::Problem> why_invalid(const api::GpuSweep& sweep, std::stop_token stop);
  planning::SweepPlan plan(const api::GpuSweep& sweep, const Learned& learned);
  base::Result<void> look_up(const api::GpuSweep& sweep, const planning::SweepPlan& plan, Learned& learned,
                             std::stop_token stop);
  base::Result<void> suspend(const planning::SweepPlan& plan, std::stop_token stop);
  // Returns when the status is due if it was not written.
  base::Result<runtime::Requeue> finish(const Sweep& sweep, const planning::SweepPlan& plan,
                                        std::stop_token stop);
  // Asks the workers of a sweep that stops trials early. Returns when to ask again, if ever.
  std::optional<base::Duration> ask_workers(const api::GpuSweep& sweep, std::stop_token stop);
  void forget(const api::ObjectKey& key);
  std::shared_ptr<const planning::TrialSpace> space_of(const api::GpuSweep& sweep);
  void tell(const api::GpuSweep& sweep, const api::GpuSweepStatus& after);

  Caches& caches_;
  runtime::EventRecorder& events_;
  SweepMetrics& metrics_;
  const base::Clock& clock_;
  SweepWriter writer_;
  base::Pace statuses_;
  LiveMetrics live_;
  std::map<api::ObjectKey, Space> spaces_;  // of sweeps that run
};

}  // namespace gpupool::controllers
