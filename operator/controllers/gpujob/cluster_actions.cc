// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/cluster_actions.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {

ClusterActions::ClusterActions(kube::Client& client, Caches& caches, PoolQueue& queue, Explainer& explainer,
                               NodeReadiness& readiness, JobMetrics& metrics, runtime::EventRecorder& events,
                               const base::Clock& clock, WorkerSettings workers, Money money)
    : client_(client),
      caches_(caches),
      queue_(queue),
      explainer_(explainer),
      readiness_(readiness),
      metrics_(metrics),
      events_(events),
      clock_(clock),
      money_(money),
      writer_(client, caches),
      node_writer_(client, caches),
      leases_(node_writer_),
      children_(client, caches, std::move(workers), clock),
      pods_(client, caches, clock) {}

JobActions::Job ClusterActions::job(const api::ObjectKey& key) { return caches_.newest_jobs.get(key); }

std::shared_ptr<const api::GpuPool> ClusterActions::pool(const std::string& name) {
  return caches_.pools.store().get({"", name});
}

std::vector<std::string> ClusterActions::pool_names() {
  std::vector<std::string> names;
  for (const auto& pool : caches_.pools.store().list()) names.push_back(pool->metadata.name);
  return names;
}

std::shared_ptr<const planning::TemplateFields> ClusterActions::template_fields() {
  return caches_.template_fields.get();
}

std::shared_ptr<const api::Node> ClusterActions::node(const std::string& name) {
  return caches_.newest_nodes.get({"", name});
}

std::shared_ptr<const api::GpuNode> ClusterActions::report_of(const api::Node& node) {
  return caches_.report_of(node);
}

std::vector<JobActions::Job> ClusterActions::holders(const std::string& node) {
  std::vector<Job> found;
  for (const auto& known : caches_.jobs.store().by_index(kByHeldNode, node)) {
    auto job = caches_.newest_jobs.get(known->metadata.key());
    if (job == nullptr) continue;
    const auto names = nodes_of(*job);
    if (std::ranges::find(names, node) != names.end()) found.push_back(std::move(job));
  }
  return found;
}

base::Duration ClusterActions::not_ready_for(const api::Node& node) { return readiness_.not_ready_for(node); }

planning::Pods ClusterActions::workers(const api::GpuJob& job) { return caches_.workers_of(job); }

std::vector<planning::Child> ClusterActions::children(const api::GpuJob& job) {
  return children_.cached(job);
}

planning::Pods ClusterActions::watched_workers(const api::GpuJob& job) {
  return caches_.watched_workers_of(job);
}

base::Result<JobActions::Live> ClusterActions::read_live(const api::GpuJob& job, std::stop_token stop) {
  if (auto done = look_at_nodes(job, stop); !done) return tl::unexpected<base::Error>(done.error());
  kube::ListOptions options;
  options.label_selector = std::string(api::kJobUidLabel) + "=" + job.metadata.uid;
  // Children are read before pods, so that a pod which a child creates meanwhile is still seen.
  auto children = children_.live(job, stop);
  if (!children) return tl::unexpected<base::Error>(children.error());
  auto pods = kube::list<api::Pod>(client_, job.metadata.ns, options, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  Live live{.workers = {}, .children = *std::move(children)};
  for (auto& pod : *pods) {
    const auto* const maker = planning::maker_of(pod);
    if (maker == nullptr) continue;
    const auto found =
        std::find_if(live.children.begin(), live.children.end(), [&](const planning::Child& child) {
          return child.type->kind == maker->kind && child.key.name == maker->name;
        });
    std::optional<api::ObjectMeta> metadata;
    if (found != live.children.end()) metadata = planning::metadata_of(*found, job);
    if (planning::is_worker(pod, job, metadata ? &*metadata : nullptr))
      live.workers.push_back(std::make_shared<const api::Pod>(std::move(pod)));
  }
  return live;
}

// Reads nodes that are gone or not ready in the cache: they may have come back while the watch was
// interrupted.
base::Result<void> ClusterActions::look_at_nodes(const api::GpuJob& job, std::stop_token stop) {
  if (!job.status.lease) return {};
  for (const auto& ref : job.status.lease->nodes) {
    const auto cached = caches_.newest_nodes.get({"", ref.name});
    const bool well = cached != nullptr && cached->metadata.uid == ref.uid && cached->ready();
    if (well) continue;
    auto node = kube::get<api::Node>(client_, {"", ref.name}, stop);
    if (node) {
      caches_.newest_nodes.answered(*std::move(node));
    } else if (node.error().code != base::ErrorCode::kNotFound) {
      return tl::unexpected<base::Error>(node.error());
    } else if (cached != nullptr) {
      caches_.newest_nodes.gone({"", ref.name}, cached->metadata.uid);
    }
  }
  return {};
}

Ticket ClusterActions::ask_queue(const api::GpuJob& job) { return queue_.ask(job); }

Ticket ClusterActions::replace_nodes(const api::GpuJob& job, const std::vector<std::string>& kept) {
  return queue_.replace(job, kept);
}

planning::Funds ClusterActions::funds(const api::GpuJob& job) {
  return money_.accounts != nullptr ? money_.accounts->funds(job) : planning::Funds();
}

std::optional<api::Problem> ClusterActions::admit(const api::GpuJob& job, const api::GpuJobStatus& next) {
  return money_.accounts != nullptr ? money_.accounts->admit(job, next) : std::nullopt;
}

void ClusterActions::leave_queue(const api::ObjectKey& job) { queue_.leave(job); }

base::Result<JobActions::Job> ClusterActions::write_status(const api::GpuJob& job,
                                                           const api::GpuJobStatus& status,
                                                           std::stop_token stop) {
  if (money_.bills != nullptr) {
    if (const auto kept = money_.bills->keep_dropped(job, status, stop); !kept)
      return tl::unexpected<base::Error>(kept.error());
  }
  return writer_.write_status(job, status, stop);
}

base::Result<JobActions::Job> ClusterActions::add_finalizer(const api::GpuJob& job, std::stop_token stop) {
  return writer_.add_finalizer(job, stop);
}

base::Result<void> ClusterActions::remove_finalizer(const api::GpuJob& job, std::stop_token stop) {
  if (money_.bills != nullptr) {
    if (auto kept = money_.bills->keep_all(job, stop); !kept) return kept;
  }
  return writer_.remove_finalizer(job, stop);
}

base::Result<void> ClusterActions::confirm(const api::GpuJob& job, std::stop_token stop) {
  return writer_.confirm(job, stop);
}

base::Result<void> ClusterActions::delete_job(const api::GpuJob& job, std::stop_token stop) {
  return writer_.remove(job, stop);
}

base::Result<JobActions::Taken> ClusterActions::take_node(const api::GpuJob& job, const api::NodeRef& ref,
                                                          const api::LeaseValue& value,
                                                          std::stop_token stop) {
  return leases_.take(ref, value, job.metadata.key(), stop);
}

base::Result<void> ClusterActions::free_node(const api::GpuJob& job, const api::NodeRef& ref,
                                             std::stop_token stop) {
  return leases_.free(ref, job.metadata.uid, stop);
}

base::Result<JobActions::Made> ClusterActions::create_children(const api::GpuJob& job, std::stop_token stop) {
  return children_.create(job, stop);
}

base::Result<JobActions::Made> ClusterActions::create_service(const api::GpuJob& job, std::stop_token stop) {
  return children_.create_service(job, stop);
}

base::Result<std::optional<api::Problem>> ClusterActions::rehearse(const api::GpuJob& job,
                                                                   std::stop_token stop) {
  return children_.rehearse(job, stop);
}

std::optional<base::Result<std::optional<api::Problem>>> ClusterActions::rehearse_first(
    const api::GpuJob& job, std::stop_token stop) {
  return children_.rehearse_first(job, stop);
}

base::Result<std::optional<api::Problem>> ClusterActions::rehearse_pod(const api::GpuJob& job,
                                                                       std::stop_token stop) {
  return children_.rehearse_pod(job, stop);
}

base::Result<void> ClusterActions::delete_child(const planning::Child& child, std::stop_token stop) {
  return children_.remove(child, stop);
}

base::Result<void> ClusterActions::delete_pod(const api::Pod& pod, bool quickly, std::stop_token stop) {
  return pods_.remove(pod, quickly, stop);
}

base::Result<void> ClusterActions::release_pod(const api::Pod& pod, std::stop_token stop) {
  return pods_.take_finalizer_off(pod, stop);
}

base::Result<planning::MountTrouble> ClusterActions::read_mount_trouble(const api::Pod& pod,
                                                                        std::stop_token stop) {
  return pods_.read_mount_trouble(pod, stop);
}

base::Result<void> ClusterActions::nudge_pod(const api::Pod& pod, std::stop_token stop) {
  return pods_.nudge(pod, stop);
}

api::Explanation ClusterActions::explain(const api::GpuJob& job) { return explainer_.explain(job); }

void ClusterActions::tell(const api::GpuJob& job, const planning::Note& note) {
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuJob::kType.kind),
                                       job.metadata.key(), job.metadata.uid, job.metadata.resource_version};
  events_.record(about, note.warning ? runtime::EventType::kWarning : runtime::EventType::kNormal,
                 note.reason, "Reconcile", note.text);
}

void ClusterActions::on_status(const api::GpuJob& before, const api::GpuJobStatus& after) {
  metrics_.on_status(before, after, clock_.wall());
}

void ClusterActions::on_marks_restored() { metrics_.on_marks_restored(); }

}  // namespace gpupool::controllers
