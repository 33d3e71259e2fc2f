#include "controllers/gpujob/observe.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "planning/job_status.h"
#include "planning/manifests.h"
#include "planning/worker_identity.h"

namespace gpupool::controllers {
namespace {

// How old the count of workers that have ended may be; the ends of a gang then cost one write, not one each.
constexpr auto kWriteInterval = std::chrono::seconds(1);
// A burst of jobs whose pods come late, as on a busy server, must not make it busier.
constexpr auto kTryInterval = std::chrono::milliseconds(500);
constexpr auto kTryIntervalOfJob = std::chrono::seconds(30);

}  // namespace

JobObserver::JobObserver(kube::Client& client, Caches& caches, Children& children, PoolQueue& queue,
                         NodeReadiness& readiness, base::Clock& clock)
    : client_(client),
      caches_(caches),
      children_(children),
      queue_(queue),
      readiness_(readiness),
      clock_(clock),
      writes_(kWriteInterval, clock),
      tries_of_job_(kTryIntervalOfJob, clock),
      tries_(kTryInterval, clock),
      unproven_(clock),
      unconfirmed_(clock) {
  caches.pods.on_change([this](const runtime::Change<api::Pod>& change) {
    if (change.after) return;
    unproven_.reset(change.before->metadata.uid);
    unconfirmed_.reset(change.before->metadata.uid);
  });
  caches.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) {
    if (change.before && (!change.after || change.after->metadata.uid != change.before->metadata.uid))
      forget_end(change.before->metadata.uid);
  });
}

void JobObserver::written(const api::GpuJob& job, const api::GpuJobStatus& status) {
  writes_.done(job.metadata.key().to_string());
  if (!status.lease && job.status.lease) forget_end(job.metadata.uid);
}

void JobObserver::deleted(const planning::Child& child) {
  const std::lock_guard lock(mutex_);
  ends_.deleted(child);
}

void JobObserver::deleted(const api::Pod& pod) {
  const std::lock_guard lock(mutex_);
  ends_.deleted(pod);
}

void JobObserver::forget_end(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  ends_.forget(job_uid);
}

bool JobObserver::end_shown(const api::GpuJob& job, const planning::Pods& pods) {
  const std::lock_guard lock(mutex_);
  return ends_.shown(job, pods);
}

planning::Observation JobObserver::observe(const Pass& pass) {
  const auto& job = *pass.job;
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  planning::Observation seen{
      .job = job,
      .pool = pool.get(),
      .node = [this](const std::string& name) { return caches_.newest_nodes.get({"", name}); },
      .replace = [this, &job](const std::vector<std::string>& kept) { return queue_.replace(job, kept); },
      .not_ready_for = [this](const api::Node& node) { return readiness_.not_ready_for(node); },
      .now = clock_.wall()};
  seen.maker_deleted = [this](const api::Pod& pod) {
    const std::lock_guard lock(mutex_);
    return ends_.has_deleted_maker_of(pod);
  };
  seen.unproven_for = [this](const api::Pod& pod) { return unproven_.go_on(pod.metadata.uid); };
  seen.unconfirmed_for = [this](const api::Pod& pod, bool node_is_ready) {
    if (node_is_ready) return unconfirmed_.go_on(pod.metadata.uid);
    unconfirmed_.reset(pod.metadata.uid);
    return base::Duration::zero();
  };
  seen.pods = pass.live_pods ? *pass.live_pods : caches_.workers_of(job);
  seen.children = pass.live_children ? *pass.live_children : children_.cached(job);
  if (job.status.lease) seen.worker_container = planning::worker_container(job.spec);
  seen.live = pass.live_pods.has_value();
  seen.end_shown = !seen.live && end_shown(job, seen.pods);
  seen.nodes_taken = pass.nodes_taken;
  seen.children_made = pass.children_made;
  seen.children_late = pass.children_late;
  seen.late_cause = pass.late_cause;
  seen.dropped = pass.dropped;
  seen.rehearsal = pass.rehearsal;
  seen.pod_rehearsal = pass.pod_rehearsal;
  seen.blocked = pass.blocked;
  seen.until_count = writes_.until_next(job.metadata.key().to_string());
  if (planning::asks_for_nodes(seen)) seen.verdict = queue_.verdict(job);
  return seen;
}

base::Result<void> JobObserver::look_live(Pass& pass, std::stop_token stop) {
  if (auto done = look_at_nodes(*pass.job, stop); !done) return done;
  kube::ListOptions options;
  options.label_selector = std::string(api::kJobUidLabel) + "=" + pass.job->metadata.uid;
  // Children first: a pod that one of them makes in between is then still seen.
  auto children = children_.live(*pass.job, stop);
  if (!children) return tl::unexpected<base::Error>(children.error());
  auto pods = kube::list<api::Pod>(client_, pass.job->metadata.ns, options, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  pass.live_pods.emplace();
  for (auto& pod : *pods) {
    const auto* const maker = planning::maker_of(pod);
    if (maker == nullptr) continue;
    const auto found = std::find_if(children->begin(), children->end(), [&](const planning::Child& child) {
      return child.type->kind == maker->kind && child.key.name == maker->name;
    });
    std::optional<api::ObjectMeta> metadata;
    if (found != children->end()) metadata = planning::metadata_of(*found, *pass.job);
    if (planning::is_worker(pod, *pass.job, metadata ? &*metadata : nullptr))
      pass.live_pods->push_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
  pass.live_children = *std::move(children);
  return {};
}

// A node that is gone or silent in the cache may have come back while the operator could not see.
base::Result<void> JobObserver::look_at_nodes(const api::GpuJob& job, std::stop_token stop) {
  if (!job.status.lease) return {};
  for (const auto& ref : job.status.lease->nodes) {
    const auto cached = caches_.newest_nodes.get({"", ref.name});
    const bool well = cached != nullptr && cached->metadata.uid == ref.uid && cached->ready();
    if (well) continue;
    auto node = kube::get<api::Node>(client_, {"", ref.name}, stop);
    if (node) {
      caches_.newest_nodes.remember(*std::move(node));
    } else if (node.error().code != base::ErrorCode::kNotFound) {
      return tl::unexpected<base::Error>(node.error());
    } else if (cached != nullptr) {
      caches_.newest_nodes.forget({"", ref.name}, cached->metadata.uid);
    }
  }
  return {};
}

bool JobObserver::may_rehearse_pod(const api::GpuJob& job) {
  const auto key = job.metadata.key().to_string();
  if (tries_.until_next("") > base::Duration::zero() ||
      tries_of_job_.until_next(key) > base::Duration::zero())
    return false;
  tries_.done("");
  tries_of_job_.done(key);
  return true;
}

ChildOptions JobObserver::manifest_options(const api::GpuJob& job) const {
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  const bool shared =
      job.status.lease ? job.status.lease->shared() : pool != nullptr && pool->spec.sharing.has_value();
  const auto grace =
      pool != nullptr ? pool->spec.max_termination_grace_period_seconds : std::optional<std::int64_t>();
  const bool as_leased = pool != nullptr && pool->spec.sharing.has_value() == shared;
  if (as_leased) return {pool->spec.worker_resource(), grace, shared};
  return {shared ? api::PoolSharing{}.resource_name : api::PoolGpus{}.resource_name, grace, shared};
}

}  // namespace gpupool::controllers
