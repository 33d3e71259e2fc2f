#include "controllers/gpujob/observe.h"

#include "planning/job_status.h"
#include "planning/manifests.h"

namespace gpupool::controllers {
namespace {

bool may_be_granted(const api::GpuJob& job) {
  return !planning::holds_nodes(job.status) && !job.metadata.deleting() && !job.spec.suspend &&
         job.status.phase != api::phase::kSucceeded && job.status.phase != api::phase::kFailed;
}

}  // namespace

planning::Observation JobObserver::observe(const Pass& pass) {
  const auto& job = *pass.job;
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  planning::Observation seen{
      .job = job,
      .pool = pool.get(),
      .node = [this](const std::string& name) { return caches_.newest_nodes.get({"", name}); },
      .replace = [this, &job](const std::vector<std::string>& kept) { return queue_.replace(job, kept); },
      .now = clock_.wall()};
  seen.pods = pass.live_pods ? *pass.live_pods : caches_.pods.store().by_index(kByJobUid, job.metadata.uid);
  seen.children = pass.live_children ? *pass.live_children : children_.cached(job);
  if (job.status.lease) seen.worker_container = planning::worker_container(job.spec);
  if (may_be_granted(job) && pool != nullptr && !planning::validate_job(job, pool.get())) {
    seen.verdict = queue_.verdict(job);
  }
  seen.live = pass.live_pods.has_value();
  seen.nodes_taken = pass.nodes_taken;
  seen.children_made = pass.children_made;
  seen.name_conflict_gone = pass.name_conflict_gone;
  seen.blocked = pass.blocked;
  return seen;
}

base::Result<void> JobObserver::look_live(Pass& pass, std::stop_token stop) {
  kube::ListOptions options;
  options.label_selector = std::string(api::kJobUidLabel) + "=" + pass.job->metadata.uid;
  // Children first: a pod that one of them makes in between is then still seen.
  auto children = children_.live(*pass.job, stop);
  if (!children) return tl::unexpected<base::Error>(children.error());
  auto pods = kube::list<api::Pod>(client_, pass.job->metadata.ns, options, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  pass.live_pods.emplace();
  for (auto& pod : *pods) pass.live_pods->push_back(std::make_shared<const api::Pod>(std::move(pod)));
  pass.live_children = *std::move(children);
  return {};
}

std::string JobObserver::gpu_resource(const api::GpuJob& job) const {
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  const bool shared = job.status.lease && job.status.lease->shared();
  const bool as_leased = pool != nullptr && pool->spec.sharing.has_value() == shared;
  if (as_leased) return pool->spec.worker_resource();
  return shared ? api::PoolSharing{}.resource_name : api::PoolGpus{}.resource_name;
}

}  // namespace gpupool::controllers
