#pragma once

#include <functional>

#include "controllers/cluster/caches.h"
#include "controllers/cluster/children.h"
#include "controllers/cluster/doubts.h"
#include "controllers/cluster/job_writer.h"
#include "controllers/cluster/node_leases.h"
#include "controllers/cluster/pool_queue.h"
#include "controllers/cluster/worker_pods.h"
#include "controllers/gpujob/job_metrics.h"
#include "controllers/gpujob/observe.h"
#include "planning/job_plan.h"
#include "runtime/controller/reconciler.h"
#include "runtime/events/recorder.h"

namespace gpupool::controllers {

// What a reconcile works with; everything outlives it.
struct JobTools {
  Caches& caches;
  PoolQueue& queue;
  JobObserver& observer;
  JobWriter& writer;
  NodeLeases& nodes;
  Children& children;
  WorkerPods& pods;
  JobMetrics& metrics;
  runtime::EventRecorder& events;
  base::Clock& clock;
};

// Takes a GpuJob through its life: observe, plan one step, do it, and again until there is nothing to do now.
class GpuJobReconciler final : public runtime::Reconciler {
 public:
  explicit GpuJobReconciler(JobTools tools) : tools_(tools), doubts_(tools.clock) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  // What a step led to: go on with the pass, or end the reconcile.
  using Done = base::Result<std::optional<runtime::Requeue>>;

  Done perform(Pass& pass, const planning::step::Idle& idle, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::AddFinalizer& add, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::RemoveFinalizer& remove, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::WriteStatus& write, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::TakeNodes& take, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::CreateChildren& create, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::RestoreService& restore, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::DropWorkers& drop, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::FreeNodes& free, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::Rehearse& rehearse, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::RehearsePod& rehearse, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::LookLive& look, std::stop_token stop);
  Done perform(Pass& pass, const planning::step::DeleteJob& remove, std::stop_token stop);
  // Takes the worker finalizer off.
  base::Result<void> let_go(const planning::Pods& pods, std::stop_token stop);
  // Before what cannot be taken back; see JobWriter::confirm. Not asked again in one pass: whoever is paused
  // in its middle meets the limit that leader election sets to each write.
  base::Result<void> confirm(Pass& pass, std::stop_token stop);
  void tell(const api::GpuJob& job, const planning::Note& note);
  // A step failed for want of a permission: a condition and an event say so.
  void show_forbidden(Pass& pass, const base::Error& error, std::stop_token stop);

  JobTools tools_;
  Doubts doubts_;
};

}  // namespace gpupool::controllers
