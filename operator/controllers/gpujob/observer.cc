// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/observer.h"

#include "planning/workers/manifests.h"

namespace gpupool::controllers {
namespace {

// How old the number of ended workers in a status may be. The ends of a gang's workers then cost one write
// instead of one each.
constexpr auto kWriteInterval = std::chrono::seconds(1);

}  // namespace

JobObserver::JobObserver(JobActions& actions, const base::Clock& clock)
    : actions_(actions),
      clock_(clock),
      writes_(kWriteInterval, clock),
      unproven_(clock),
      unconfirmed_(clock),
      stuck_(clock) {}

void JobObserver::on_status(const api::GpuJob& job, const api::GpuJobStatus& status) {
  writes_.done(job.metadata.key().to_string());
  if (job.status.lease && (!status.lease || status.lease->id != job.status.lease->id))
    stuck_.reset(job.status.lease->id);
  if (!status.lease && job.status.lease) forget_job(job.metadata.uid);
}

void JobObserver::on_deleted(const planning::Child& child) {
  const base::MutexLock lock(mutex_);
  ends_.deleted(child);
}

void JobObserver::on_deleted(const api::Pod& pod) {
  const base::MutexLock lock(mutex_);
  ends_.deleted(pod);
}

void JobObserver::forget_pod(const std::string& uid) {
  unproven_.reset(uid);
  unconfirmed_.reset(uid);
}

void JobObserver::forget_job(const std::string& uid) {
  const base::MutexLock lock(mutex_);
  ends_.forget(uid);
}

planning::Observation JobObserver::observe(const ReconcileState& state) {
  const auto& job = *state.job;
  planning::Observation seen{
      .job = job,
      .pool = actions_.pool(job.spec.pool),
      .template_fields = actions_.template_fields(),
      .pool_names = [this] { return actions_.pool_names(); },
      .node = [this](const std::string& name) { return actions_.node(name); },
      .report_of = [this](const api::Node& node) { return actions_.report_of(node); },
      .holders = [this](const std::string& name) { return actions_.holders(name); },
      .not_ready_for = [this](const api::Node& node) { return actions_.not_ready_for(node); },
      .now = clock_.wall()};
  seen.maker_deleted = [this](const api::Pod& pod) {
    const base::MutexLock lock(mutex_);
    return ends_.has_deleted_maker_of(pod);
  };
  seen.unproven_for = [this](const api::Pod& pod) { return unproven_.go_on(pod.metadata.uid); };
  seen.unconfirmed_for = [this](const api::Pod& pod, bool node_is_ready) {
    if (node_is_ready) return unconfirmed_.go_on(pod.metadata.uid);
    unconfirmed_.reset(pod.metadata.uid);
    return base::Duration::zero();
  };
  seen.stuck_for = [this, &job](bool stuck) {
    if (stuck) return stuck_.go_on(job.status.lease->id);
    stuck_.reset(job.status.lease->id);
    return base::Duration::zero();
  };
  seen.live = state.live.has_value();
  seen.pods = seen.live ? state.live->workers : actions_.workers(job);
  seen.children = seen.live ? state.live->children : actions_.children(job);
  if (job.status.lease) seen.worker_container = planning::worker_container(job.spec);
  if (!seen.live && job.status.lease) {
    const auto watched = actions_.watched_workers(job);
    const base::MutexLock lock(mutex_);
    seen.end_shown = ends_.shown(job, watched);
  }
  // The ticket of a replacement says nothing about the job's turn.
  if (state.ticket && !state.replacement) seen.verdict = state.ticket->verdict();
  seen.replacement = state.replacement;
  seen.nodes_taken = state.nodes_taken;
  seen.children_made = state.children_made;
  seen.children_late = state.children_late;
  seen.late_cause = state.late_cause;
  seen.dropped = state.dropped;
  seen.released = state.released;
  seen.rehearsal = state.rehearsal;
  seen.first_rehearsal = state.first_rehearsal;
  seen.pod_rehearsal = state.pod_rehearsal;
  seen.mounts = state.mounts;
  seen.blocked = state.blocked;
  seen.funds = actions_.funds(job);
  if (state.unfunded) seen.funds.problem = state.unfunded;
  seen.until_count = writes_.until_next(job.metadata.key().to_string());
  return seen;
}

}  // namespace gpupool::controllers
