// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/reconciler.h"

#include "api/v1alpha1/reasons.h"
#include "kube/api_error.h"
#include "planning/job/job_status.h"
#include "planning/job/plan_job.h"
#include "planning/job/worker_waits.h"

namespace gpupool::controllers {
namespace {

namespace step = planning::step;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A job needs ten steps from the queue to running. More than this in one reconcile means that two steps undo
// each other.
constexpr int kMaxSteps = 40;
// Time between two dry runs of pods: of all jobs together, and of one job.
constexpr auto kTryInterval = milliseconds(500);
constexpr auto kTryIntervalOfJob = seconds(30);
constexpr auto kWhileAnotherAsks = milliseconds(50);

std::optional<runtime::Requeue> again_after(std::optional<base::Duration> after) {
  return runtime::Requeue{after};
}
constexpr std::nullopt_t kGoOn = std::nullopt;

// How long a job keeps nodes that cannot be marked.
constexpr auto kLongestTaking = seconds(60);

// Nothing: it is tried again.
std::optional<api::Problem> problem_of_taking(const base::Error& error, const api::Lease& lease,
                                              base::WallTime now) {
  if (kube::is_refusal(error)) return api::Problem{api::reason::kForbidden, error.message};
  const bool answered = error.http_status >= 400 && error.code != base::ErrorCode::kConflict;
  if (answered && lease.since && now > *lease.since + kLongestTaking)
    return api::Problem{api::reason::kCreateFailed, error.message};
  return std::nullopt;
}

bool same_lease(const api::GpuJobStatus& a, const api::GpuJobStatus& b) {
  return a.lease.has_value() == b.lease.has_value() && (!a.lease || a.lease->id == b.lease->id);
}

// True also for a claim.
bool begins_to_hold(const api::GpuJobStatus& before, const api::GpuJobStatus& after) {
  return !planning::holds_nodes(before) && planning::holds_nodes(after);
}

// True if the server may have carried out the request.
bool is_unanswered(const base::Error& error) {
  return error.code == base::ErrorCode::kTransport || error.code == base::ErrorCode::kTimeout ||
         error.code == base::ErrorCode::kServer;
}

// True if the next reconcile cannot simply try again: neither a newer version nor the end of this process is
// the cause.
bool is_refused(const base::Error& error) {
  return error.code != base::ErrorCode::kConflict && error.code != base::ErrorCode::kCancelled;
}

}  // namespace

GpuJobReconciler::GpuJobReconciler(JobActions& actions, const base::Clock& clock)
    : actions_(actions),
      clock_(clock),
      observer_(actions, clock),
      turns_(clock),
      tries_(kTryInterval, clock),
      tries_of_job_(kTryIntervalOfJob, clock),
      mounts_(kTryInterval, clock),
      mounts_of_job_(planning::kMountsAskedWithin, clock) {}

base::Result<runtime::Requeue> GpuJobReconciler::reconcile(const api::ObjectKey& key, const base::Log& log,
                                                           std::stop_token stop) {
  // Keeps the ticket of the last reconcile until this one ends. By then the status shows its nodes, or never
  // will.
  auto before = unanswered_.take(key);
  State state;
  state.job = actions_.job(key);
  if (state.job == nullptr) {
    turns_.leave(key);
    return runtime::Requeue{};
  }
  auto done = run_steps(state, log, stop);
  if (done) return answer(state, done->value_or(runtime::Requeue{seconds(1)}), stop);
  const auto& error = done.error();
  if (error.code == base::ErrorCode::kNotFound) return runtime::Requeue{};  // the job is gone
  if (error.code == base::ErrorCode::kForbidden) {
    show_forbidden(state, error, stop);
    static_cast<void>(answer(state, {}, stop));  // tried again with the next reconcile
  }
  if (before && before->ticket && state.ticket) before->ticket->discard();
  if (is_unanswered(error)) {
    const auto since = before ? before->since : clock_.now();
    if (clock_.now() - since < Unanswered::kLongest) {
      auto& ticket = state.ticket || !before ? state.ticket : before->ticket;
      unanswered_.keep(key, {std::move(ticket), since});
      return tl::unexpected<base::Error>(error);
    }
  }
  if (is_refused(error)) actions_.leave_queue(key);
  return tl::unexpected<base::Error>(error);
}

// Returns nothing if it took too many steps.
GpuJobReconciler::Done GpuJobReconciler::run_steps(State& state, const base::Log& log, std::stop_token stop) {
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::kCancelled, "stopping");
    const auto next = planning::plan_job(observer_.observe(state));
    auto done = std::visit([&](const auto& what) { return perform(state, what, stop); }, next);
    if (!done || *done) return done;
  }
  log.warning("a reconcile took too many steps");
  return kGoOn;
}

// Reason and message are kept, because they may be the outcome. The next status write clears the condition. A
// job that has ended and given everything back has none: the log has to do.
void GpuJobReconciler::show_forbidden(State& state, const base::Error& error, std::stop_token stop) {
  if (state.job->finished() && !state.job->status.lease) return;
  auto status = state.job->status;
  for (const bool is_stalled : {true, false}) {  // only one may be true, because kstatus reads the first
    api::Condition condition;
    condition.type = is_stalled ? "Stalled" : "Reconciling";
    condition.status = is_stalled ? "True" : "False";
    condition.observed_generation = state.job->metadata.generation;
    condition.reason = api::reason::kForbidden;
    if (is_stalled) condition.message = error.message;
    api::set_condition(status.conditions, std::move(condition), clock_.wall());
  }
  if (status == state.job->status) return;
  actions_.tell(*state.job, {true, api::reason::kForbidden, error.message});
  // This write may be forbidden too; the event and the log remain.
  if (auto written = actions_.write_status(*state.job, status, stop)) state.job = *written;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& /*state*/, const step::Idle& idle,
                                                 std::stop_token /*stop*/) {
  return again_after(idle.after);
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::AskQueue& /*ask*/,
                                                 std::stop_token /*stop*/) {
  state.ticket.reset();
  state.ticket.emplace(actions_.ask_queue(*state.job));
  state.replacement.reset();
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::ReplaceNodes& replace,
                                                 std::stop_token /*stop*/) {
  state.ticket.reset();
  state.ticket.emplace(actions_.replace_nodes(*state.job, replace.kept));
  state.replacement = {replace.kept, state.ticket->verdict().nodes};
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::AddFinalizer& /*add*/,
                                                 std::stop_token stop) {
  auto job = actions_.add_finalizer(*state.job, stop);
  if (!job) return tl::unexpected<base::Error>(job.error());
  state.job = *job;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::RemoveFinalizer& /*remove*/,
                                                 std::stop_token stop) {
  const auto done = actions_.remove_finalizer(*state.job, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  return again_after(std::nullopt);
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::WriteStatus& write,
                                                 std::stop_token stop) {
  if (begins_to_hold(state.job->status, write.status)) {
    state.unfunded = actions_.admit(*state.job, write.status);
    if (state.unfunded) {
      state.ticket.reset();
      return kGoOn;
    }
  }
  auto job = actions_.write_status(*state.job, write.status, stop);
  if (!job) return tl::unexpected<base::Error>(job.error());
  actions_.on_status(*state.job, write.status);
  if (!same_lease(state.job->status, write.status)) {
    state.nodes_taken = state.children_made = state.children_late = state.dropped = state.released = false;
    state.rehearsal = state.pod_rehearsal = {};
    state.ticket.reset();  // the status shows its nodes now
    state.replacement.reset();
  }
  observer_.on_status(*state.job, write.status);
  state.confirmed = true;
  state.blocked.reset();
  state.live.reset();
  if (write.note) actions_.tell(**job, *write.note);
  state.job = *job;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::TakeNodes& take,
                                                 std::stop_token stop) {
  const auto& lease = *state.job->status.lease;
  const auto& id = take.value.empty() ? lease.id : take.value;
  const auto value = api::parse_lease_value(id);
  if (!value) return base::fail(base::ErrorCode::kInvalidArgument, "not a lease value: " + id);
  const auto& nodes = take.only.empty() ? lease.nodes : take.only;
  for (const auto& node :
       nodes) {  // in order of name, so that two jobs that want the same nodes meet at the first
    auto taken = actions_.take_node(*state.job, node, *value, stop);
    if (!taken) {
      if (auto problem = problem_of_taking(taken.error(), lease, clock_.wall())) {
        state.blocked = std::move(problem);
        return kGoOn;
      }
      return tl::unexpected<base::Error>(taken.error());
    }
    if (taken->problem) {
      state.blocked = taken->problem;
      return kGoOn;
    }
    if (taken->written && (lease.state == api::lease_state::kRunning || !take.value.empty())) {
      actions_.on_marks_restored();
      actions_.tell(*state.job, {true, api::event::kLeaseMarksRestored,
                                 "somebody took the lease's taint, label or annotation off node " +
                                     node.name + "; put back"});
    }
  }
  if (const auto done = release(state, take.to_release, stop); !done)
    return tl::unexpected<base::Error>(done.error());
  state.nodes_taken = take.only.empty();
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::CreateChildren& /*create*/,
                                                 std::stop_token stop) {
  const bool unannounced = state.job->status.lease->state == api::lease_state::kTaking;
  if (unannounced) {
    if (const auto done = confirm(state, stop); !done) return tl::unexpected<base::Error>(done.error());
  }
  auto made = actions_.create_children(*state.job, stop);
  if (!made && !unannounced && made.error().http_status == 0)
    return tl::unexpected<base::Error>(made.error());  // no answer: a status could not be written either
  state.children_made = made && made->complete;
  state.blocked = made ? made->problem : std::nullopt;
  state.children_late = !state.children_made && !state.blocked;
  state.late_cause = made ? "" : made.error().message;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::RestoreService& /*restore*/,
                                                 std::stop_token stop) {
  auto made = actions_.create_service(*state.job, stop);
  if (!made) return tl::unexpected<base::Error>(made.error());
  state.blocked = made->problem;
  state.live.reset();  // it does not show the new Service
  if (!made->complete && !made->problem) return again_after(std::chrono::milliseconds(500));
  if (made->complete) {
    actions_.tell(*state.job,
                  {true, api::event::kServiceRestored, "its Service was gone and was made again"});
  }
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::DropWorkers& drop,
                                                 std::stop_token stop) {
  if (const auto done = confirm(state, stop); !done) return tl::unexpected<base::Error>(done.error());
  for (const auto& child : drop.children) {  // before the pods, so that nothing replaces the pods
    const auto done = actions_.delete_child(child, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
    observer_.on_deleted(child);
  }
  for (const auto& [pod, quickly] : drop.pods_to_delete) {
    const auto done = actions_.delete_pod(*pod, quickly, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
    if (!state.live) observer_.on_deleted(*pod);
  }
  if (const auto done = release(state, drop.to_release, stop); !done)
    return tl::unexpected<base::Error>(done.error());
  for (const auto& pod : drop.pods_to_nudge) {
    const auto done = actions_.nudge_pod(*pod, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  state.dropped = true;
  if (!drop.waits) return kGoOn;
  return again_after(seconds(1));  // the watches wake the job earlier
}

// Without a look at the server: the job has left the lease of these pods, which is final.
GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::ReleasePods& release_them,
                                                 std::stop_token stop) {
  if (const auto done = release(state, release_them.pods, stop); !done)
    return tl::unexpected<base::Error>(done.error());
  state.released = true;
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::FreeNodes& free,
                                                 std::stop_token stop) {
  if (!state.live) {
    if (const auto done = confirm(state, stop); !done) return tl::unexpected<base::Error>(done.error());
  }
  for (const auto& node : free.nodes) {
    const auto done = actions_.free_node(*state.job, node, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
  }
  if (const auto done = release(state, free.to_release, stop); !done)
    return tl::unexpected<base::Error>(done.error());
  if (!free.job_goes) return perform(state, free.then, stop);
  auto done = perform(state, step::RemoveFinalizer{}, stop);
  if (done) actions_.on_status(*state.job, free.then.status);
  return done;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::Rehearse& /*rehearse*/,
                                                 std::stop_token stop) {
  const auto problem = actions_.rehearse(*state.job, stop);
  if (!problem) return tl::unexpected<base::Error>(problem.error());
  state.rehearsal = {true, *problem};
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::RehearseFirst& /*rehearse*/,
                                                 std::stop_token stop) {
  const auto answer = actions_.rehearse_first(*state.job, stop);
  if (!answer) return again_after(kWhileAnotherAsks);
  if (!*answer) return tl::unexpected<base::Error>(answer->error());
  state.first_rehearsal = {true, **answer};
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::RehearsePod& /*rehearse*/,
                                                 std::stop_token stop) {
  state.pod_rehearsal.done = true;
  // Limits dry runs, because pods are late when the server is busy. Another lease or spec is another pod.
  const auto key = state.job->status.lease->id + "@" + std::to_string(state.job->metadata.generation);
  state.pod_rehearsal.until = std::max(tries_.until_next(""), tries_of_job_.until_next(key));
  if (state.pod_rehearsal.until > base::Duration::zero()) return kGoOn;
  tries_.done("");
  tries_of_job_.done(key);
  const auto problem = actions_.rehearse_pod(*state.job, stop);
  if (!problem) return tl::unexpected<base::Error>(problem.error());
  state.pod_rehearsal.problem = *problem;
  return kGoOn;
}

// Events are kept by the server without a cache, so reading them is limited. Without the right to read them
// startTimeoutSeconds has to do.
GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::AskMounts& ask,
                                                 std::stop_token stop) {
  state.mounts.asked = true;
  const auto key = state.job->metadata.key().to_string();
  if (mounts_.until_next("") > base::Duration::zero() ||
      mounts_of_job_.until_next(key) > base::Duration::zero())
    return kGoOn;
  mounts_.done("");
  mounts_of_job_.done(key);
  if (auto found = actions_.read_mount_trouble(*ask.pod, stop)) state.mounts = *std::move(found);
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::LookLive& /*look*/,
                                                 std::stop_token stop) {
  auto live = actions_.read_live(*state.job, stop);
  if (!live) return tl::unexpected<base::Error>(live.error());
  state.live = *std::move(live);
  return kGoOn;
}

GpuJobReconciler::Done GpuJobReconciler::perform(State& state, const step::DeleteJob& /*remove*/,
                                                 std::stop_token stop) {
  if (const auto done = confirm(state, stop); !done) return tl::unexpected<base::Error>(done.error());
  const auto done = actions_.delete_job(*state.job, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  return again_after(std::nullopt);
}

base::Result<void> GpuJobReconciler::release(State& state, const planning::Pods& pods, std::stop_token stop) {
  for (const auto& pod : pods) {
    const auto done = actions_.release_pod(*pod, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
    // One that stays is not a worker any more.
    if (state.live && !pod->metadata.deleting()) std::erase(state.live->workers, pod);
  }
  return {};
}

base::Result<void> GpuJobReconciler::confirm(State& state, std::stop_token stop) {
  if (state.confirmed) return {};
  auto done = actions_.confirm(*state.job, stop);
  state.confirmed = done.has_value();
  return done;
}

}  // namespace gpupool::controllers
