#include "controllers/gpujob/reconciler.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "kube/api_error.h"
#include "planning/assess_workers.h"

namespace gpupool::controllers {
namespace {

namespace step = planning::step;
using std::chrono::seconds;

// A life from queue to running takes nine steps; more than this in one go means that two of them undo each
// other.
constexpr int kMaxSteps = 40;

std::optional<runtime::Requeue> again_after(std::optional<base::Duration> after) {
  return runtime::Requeue{after};
}
constexpr std::nullopt_t kGoOn = std::nullopt;

// Ends the job's grant when the reconcile does, unless it is not known whether the lease was written: the
// next reconcile of the job finds out. A job whose writes are refused does not keep nodes from others.
class GrantGuard {
 public:
  GrantGuard(PoolQueue& queue, Doubts& doubts, const api::ObjectKey& key)
      : queue_(queue), doubts_(doubts), key_(key) {}
  ~GrantGuard() {
    if (!error_) doubts_.end(key_);
    if (in_doubt_ && doubts_.go_on(key_)) return;
    if (error_) {
      queue_.step_aside(key_);
    } else {
      queue_.settle(key_);
    }
  }
  GrantGuard(const GrantGuard&) = delete;
  GrantGuard& operator=(const GrantGuard&) = delete;
  void look_at(const base::Error& error) {
    in_doubt_ = error.code == base::ErrorCode::kTransport || error.code == base::ErrorCode::kTimeout ||
                error.code == base::ErrorCode::kServer;
    error_ = error.code != base::ErrorCode::kConflict && error.code != base::ErrorCode::kCancelled;
  }

 private:
  PoolQueue& queue_;
  Doubts& doubts_;
  const api::ObjectKey& key_;
  bool in_doubt_ = false;
  bool error_ = false;
};

// Nodes are not promised for longer than this to a job for which they cannot be marked.
constexpr auto kLongestTaking = seconds(60);

// Nothing: it is tried again.
std::optional<planning::Problem> problem_of_taking(const base::Error& error, const api::Lease& lease,
                                                   base::WallTime now) {
  if (kube::is_refusal(error)) return planning::Problem{api::reason::kForbidden, error.message};
  const bool answered = error.http_status >= 400 && error.code != base::ErrorCode::kConflict;
  if (answered && lease.since && now > *lease.since + kLongestTaking)
    return planning::Problem{api::reason::kCreateFailed, error.message};
  return std::nullopt;
}

bool same_lease(const api::GpuJobStatus& a, const api::GpuJobStatus& b) {
  return a.lease.has_value() == b.lease.has_value() && (!a.lease || a.lease->id == b.lease->id);
}

}  // namespace

base::Result<runtime::Requeue> GpuJobReconciler::reconcile(const api::ObjectKey& key, const base::Log& log,
                                                           std::stop_token stop) {
  Pass pass;
  pass.job = tools_.caches.newest_jobs.get(key);
  GrantGuard guard(tools_.queue, doubts_, key);
  if (pass.job == nullptr) return runtime::Requeue{};
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::kCancelled, "stopping");
    const auto next = planning::plan_job(tools_.observer.observe(pass));
    auto done = std::visit([&](const auto& what) { return perform(pass, what, stop); }, next);
    if (!done && done.error().code == base::ErrorCode::kNotFound)
      return runtime::Requeue{};  // the job is gone
    if (!done) {
      if (done.error().code == base::ErrorCode::kForbidden) show_forbidden(pass, done.error(), stop);
      guard.look_at(done.error());
      return tl::unexpected<base::Error>(done.error());
    }
    if (*done) return **done;
  }
  log.warning("a reconcile took too many steps");
  return runtime::Requeue{seconds(1)};
}

// Its reason and message stay, since they may be the outcome; the next status that is written clears it.
void GpuJobReconciler::show_forbidden(Pass& pass, const base::Error& error, std::stop_token stop) {
  auto status = pass.job->status;
  for (const bool is_stalled : {true, false}) {  // never both are true: whoever reads them takes the first
    api::Condition condition;
    condition.type = is_stalled ? "Stalled" : "Reconciling";
    condition.status = is_stalled ? "True" : "False";
    condition.observed_generation = pass.job->metadata.generation;
    condition.reason = api::reason::kForbidden;
    if (is_stalled) condition.message = error.message;
    api::set_condition(status.conditions, std::move(condition), tools_.clock.wall());
  }
  if (status == pass.job->status) return;
  tell(*pass.job, {true, api::reason::kForbidden, error.message});
  // Not even that may be allowed; the event and the log have to do then.
  if (auto written = tools_.writer.write_status(*pass.job, status, stop)) pass.job = *written;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& /*pass*/, const step::Idle& idle,
                                                 std::stop_token /*stop*/) {
  return again_after(idle.after);
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::AddFinalizer& /*add*/,
                                                 std::stop_token stop) {
  auto job = tools_.writer.add_finalizer(*pass.job, stop);
  if (!job) return tl::unexpected<base::Error>(job.error());
  pass.job = *job;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::RemoveFinalizer& /*remove*/,
                                                 std::stop_token stop) {
  const auto done = tools_.writer.remove_finalizer(*pass.job, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  return again_after(std::nullopt);
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::WriteStatus& write,
                                                 std::stop_token stop) {
  auto job = tools_.writer.write_status(*pass.job, write.status, stop);
  if (!job) return tl::unexpected<base::Error>(job.error());
  tools_.metrics.on_status(*pass.job, write.status, tools_.clock.wall());
  if (!same_lease(pass.job->status, write.status)) {
    pass.nodes_taken = pass.children_made = pass.children_late = pass.dropped = false;
    pass.rehearsal = pass.pod_rehearsal = {};
  }
  tools_.observer.written(*pass.job, write.status);
  pass.confirmed = true;
  pass.blocked.reset();
  pass.live_pods.reset();
  pass.live_children.reset();
  if (write.note) tell(**job, *write.note);
  pass.job = *job;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::TakeNodes& take,
                                                 std::stop_token stop) {
  const auto& lease = *pass.job->status.lease;
  const auto value = api::parse_lease_value(lease.id);
  if (!value)
    return base::fail(base::ErrorCode::kInvalidArgument, "status.lease.id is not a lease value: " + lease.id);
  const auto& nodes = take.only.empty() ? lease.nodes : take.only;
  for (const auto& node : nodes) {  // in order of name: two jobs that want the same meet at the first
    auto taken = tools_.nodes.take(node, *value, pass.job->metadata.key(), stop);
    if (!taken) {
      if (auto problem = problem_of_taking(taken.error(), lease, tools_.clock.wall())) {
        pass.blocked = std::move(problem);
        return kGoOn;
      }
      return tl::unexpected<base::Error>(taken.error());
    }
    if (taken->problem) {
      pass.blocked = taken->problem;
      return kGoOn;
    }
    if (taken->written && lease.state == api::lease_state::kRunning) {
      tools_.metrics.on_marks_restored();
      tell(*pass.job,
           {true, "LeaseMarksRestored",
            "somebody took the lease's taint, label or annotation off node " + node.name + "; put back"});
    }
  }
  if (const auto done = let_go(take.let_go, stop); !done) return tl::unexpected<base::Error>(done.error());
  pass.nodes_taken = take.only.empty();
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::CreateChildren& /*create*/,
                                                 std::stop_token stop) {
  const bool unannounced = pass.job->status.lease->state == api::lease_state::kTaking;
  if (unannounced) {
    if (const auto done = confirm(pass, stop); !done) return tl::unexpected<base::Error>(done.error());
  }
  auto made = tools_.children.create(*pass.job, tools_.observer.manifest_options(*pass.job), stop);
  if (!made && !unannounced && made.error().http_status == 0)
    return tl::unexpected<base::Error>(made.error());  // nobody answered: nothing can be written either
  pass.children_made = made && made->complete;
  pass.blocked = made ? made->problem : std::nullopt;
  pass.children_late = !pass.children_made && !pass.blocked;
  pass.late_cause = made ? "" : made.error().message;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::RestoreService& /*restore*/,
                                                 std::stop_token stop) {
  auto made = tools_.children.create_service(*pass.job, tools_.observer.manifest_options(*pass.job), stop);
  if (!made) return tl::unexpected<base::Error>(made.error());
  pass.blocked = made->problem;
  pass.live_pods.reset();  // what was read before does not show the new one
  pass.live_children.reset();
  if (!made->complete && !made->problem) return again_after(std::chrono::milliseconds(500));
  if (made->complete) tell(*pass.job, {true, "ServiceRestored", "its Service was gone and was made again"});
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::DropWorkers& drop,
                                                 std::stop_token stop) {
  if (const auto done = confirm(pass, stop); !done) return tl::unexpected<base::Error>(done.error());
  for (const auto& child : drop.children) {  // before their pods, so that nothing replaces those
    const auto done = tools_.children.remove(child, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
    tools_.observer.deleted(child);
  }
  for (const auto& [pod, quickly] : drop.pods_to_delete) {
    const auto done = tools_.pods.remove(*pod, quickly, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
    if (!pass.live_pods) tools_.observer.deleted(*pod);
  }
  if (const auto done = let_go(drop.let_go, stop); !done) return tl::unexpected<base::Error>(done.error());
  for (const auto& pod : drop.pods_to_nudge) {
    const auto done = tools_.pods.nudge(*pod, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  pass.dropped = true;
  if (!drop.waits) return kGoOn;
  return again_after(seconds(1));  // the watches tell sooner
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::FreeNodes& free,
                                                 std::stop_token stop) {
  if (!pass.live_pods) {
    if (const auto done = confirm(pass, stop); !done) return tl::unexpected<base::Error>(done.error());
  }
  for (const auto& node : free.nodes) {
    const auto done = tools_.nodes.free(node, pass.job->metadata.uid, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  for (const auto& pod : free.let_go) {
    if (pod->metadata.deleting()) continue;
    const auto done = tools_.pods.remove(*pod, true, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  if (const auto done = let_go(free.let_go, stop); !done) return tl::unexpected<base::Error>(done.error());
  if (!free.job_goes) return perform(pass, free.then, stop);
  auto done = perform(pass, step::RemoveFinalizer{}, stop);
  if (done) tools_.metrics.on_status(*pass.job, free.then.status, tools_.clock.wall());
  return done;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::Rehearse& /*rehearse*/,
                                                 std::stop_token stop) {
  const auto problem = tools_.children.rehearse(*pass.job, tools_.observer.manifest_options(*pass.job), stop);
  if (!problem) return tl::unexpected<base::Error>(problem.error());
  pass.rehearsal = {true, *problem};
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::RehearsePod& /*rehearse*/,
                                                 std::stop_token stop) {
  pass.pod_rehearsal.done = true;
  if (!tools_.observer.may_rehearse_pod(*pass.job)) return kGoOn;
  const auto problem =
      tools_.children.rehearse_pod(*pass.job, tools_.observer.manifest_options(*pass.job), stop);
  if (!problem) return tl::unexpected<base::Error>(problem.error());
  pass.pod_rehearsal.problem = *problem;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::LookLive& /*look*/,
                                                 std::stop_token stop) {
  const auto done = tools_.observer.look_live(pass, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(Pass& pass, const step::DeleteJob& /*remove*/,
                                                 std::stop_token stop) {
  if (const auto done = confirm(pass, stop); !done) return tl::unexpected<base::Error>(done.error());
  const auto done = tools_.writer.remove(*pass.job, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  return again_after(std::nullopt);
}

base::Result<void> GpuJobReconciler::let_go(const planning::Pods& pods, std::stop_token stop) {
  for (const auto& pod : pods) {
    const auto done = tools_.pods.take_finalizer_off(*pod, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  return {};
}

base::Result<void> GpuJobReconciler::confirm(Pass& pass, std::stop_token stop) {
  if (pass.confirmed) return {};
  auto done = tools_.writer.confirm(*pass.job, stop);
  pass.confirmed = done.has_value();
  return done;
}

void GpuJobReconciler::tell(const api::GpuJob& job, const planning::Note& note) {
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuJob::kType.kind),
                                       job.metadata.key(), job.metadata.uid, job.metadata.resource_version};
  tools_.events.record(about, note.warning ? runtime::EventType::kWarning : runtime::EventType::kNormal,
                       note.reason, "Reconcile", note.text);
}

}  // namespace gpupool::controllers
