// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/pace.h"
#include "controllers/gpujob/answer_turns.h"
#include "controllers/gpujob/job_actions.h"
#include "controllers/gpujob/observer.h"
#include "controllers/gpujob/reconcile_state.h"
#include "controllers/gpujob/unanswered.h"
#include "planning/job/step.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Reconciles one GpuJob: observes, plans one step, performs it, and repeats until a step ends the reconcile
// (planning/job/step.h). Called by the reconcile threads, never by two for the same job.
class GpuJobReconciler final : public runtime::Reconciler {
 public:
  // REQUIRES: both outlive this.
  GpuJobReconciler(JobActions& actions, const base::Clock& clock);
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

  // Call when the watch shows that they are gone. Thread-safe.
  void forget_pod(const std::string& uid) { observer_.forget_pod(uid); }
  void forget_job(const std::string& uid) { observer_.forget_job(uid); }

 private:
  // The result of a step. nullopt: plan the next step; else the reconcile ends.
  using Done = base::Result<std::optional<runtime::Requeue>>;
  using State = ReconcileState;

  Done run_steps(State& state, const base::Log& log, std::stop_token stop);
  Done perform(State& state, const planning::step::Idle& idle, std::stop_token stop);
  Done perform(State& state, const planning::step::AskQueue& ask, std::stop_token stop);
  Done perform(State& state, const planning::step::ReplaceNodes& replace, std::stop_token stop);
  Done perform(State& state, const planning::step::AddFinalizer& add, std::stop_token stop);
  Done perform(State& state, const planning::step::RemoveFinalizer& remove, std::stop_token stop);
  Done perform(State& state, const planning::step::WriteStatus& write, std::stop_token stop);
  Done perform(State& state, const planning::step::TakeNodes& take, std::stop_token stop);
  Done perform(State& state, const planning::step::CreateChildren& create, std::stop_token stop);
  Done perform(State& state, const planning::step::RestoreService& restore, std::stop_token stop);
  Done perform(State& state, const planning::step::DropWorkers& drop, std::stop_token stop);
  Done perform(State& state, const planning::step::ReleasePods& release_them, std::stop_token stop);
  Done perform(State& state, const planning::step::FreeNodes& free, std::stop_token stop);
  Done perform(State& state, const planning::step::Rehearse& rehearse, std::stop_token stop);
  Done perform(State& state, const planning::step::RehearseFirst& rehearse, std::stop_token stop);
  Done perform(State& state, const planning::step::RehearsePod& rehearse, std::stop_token stop);
  Done perform(State& state, const planning::step::AskMounts& ask, std::stop_token stop);
  Done perform(State& state, const planning::step::LookLive& look, std::stop_token stop);
  Done perform(State& state, const planning::step::DeleteJob& remove, std::stop_token stop);
  // Removes the worker finalizer.
  base::Result<void> release(State& state, const planning::Pods& pods, std::stop_token stop);
  // Call before a step that cannot be undone. Returns kConflict unless the server has the job in exactly this
  // version: a cache may be behind, or ahead of a server that was restored from a backup. Asks once per
  // reconcile; if the process is paused after that, the time limit of the leader election on each write
  // protects the cluster.
  base::Result<void> confirm(State& state, std::stop_token stop);
  // Answers who asks about the job (is_asked), with one write, when its turn has come. next: when the
  // reconcile is due again without that.
  base::Result<runtime::Requeue> answer(State& state, runtime::Requeue next, std::stop_token stop);
  // A step failed because a permission is missing: sets a condition and records an event.
  void show_forbidden(State& state, const base::Error& error, std::stop_token stop);

  JobActions& actions_;
  const base::Clock& clock_;
  JobObserver observer_;
  Unanswered unanswered_;
  AnswerTurns turns_;
  base::Pace tries_;         // dry runs of pods (step::RehearsePod), all jobs together
  base::Pace tries_of_job_;  // the same, by job
  base::Pace mounts_;        // reads of Events (step::AskMounts), all jobs together
  base::Pace mounts_of_job_;
};

}  // namespace gpupool::controllers
