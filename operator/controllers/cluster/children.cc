#include "controllers/cluster/children.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "kube/api_error.h"
#include "planning/line_entry.h"
#include "planning/worker_identity.h"

namespace gpupool::controllers {
namespace {

using planning::Child;
using planning::Problem;
namespace reason = api::reason;
constexpr auto kRemembered = std::chrono::seconds(3);
// So many lease values of a job are looked up one by one.
constexpr std::int64_t kFewLeases = 4;

Child describe(const api::ResourceType& type, const api::ObjectMeta& metadata) {
  return {&type, metadata.key(), metadata.uid, metadata.label(api::kLease), metadata.deleting()};
}

template <class K>
void collect(const runtime::Store<K>& store, const api::GpuJob& job, std::vector<Child>& children) {
  for (const auto& object : store.by_index(kByJobUid, job.metadata.uid)) {
    if (planning::is_child(object->metadata, job)) children.push_back(describe(K::kType, object->metadata));
  }
}

template <class K>
base::Result<void> collect_live(kube::Client& client, const api::GpuJob& job, std::vector<Child>& children,
                                std::stop_token stop) {
  kube::ListOptions options;
  options.label_selector = std::string(api::kJobUidLabel) + "=" + job.metadata.uid;
  const auto found = kube::list<K>(client, job.metadata.ns, options, stop);
  if (!found) return tl::unexpected<base::Error>(found.error());
  for (const auto& object : *found) {
    if (planning::is_child(object.metadata, job)) children.push_back(describe(K::kType, object.metadata));
  }
  return {};
}

// Any kind: only the metadata is read.
base::Result<api::Service> read_metadata(kube::Client& client, const api::ResourceType& type,
                                         const api::ObjectKey& key, std::stop_token stop) {
  return kube::decode<api::Service>(client.get(type, key, stop));
}

// What the server's refusal of a worker, or of what makes them, means for the job. Nothing: it says nothing
// about the job, or nobody answered.
std::optional<Problem> problem_of(const base::Error& error) {
  if (kube::is_namespace_terminating(error))
    return Problem{reason::kNamespaceTerminating, "its namespace is being deleted: " + error.message};
  if (error.code == base::ErrorCode::kForbidden) return Problem{reason::kForbidden, error.message};
  if (kube::is_refusal(error))
    return Problem{reason::kInvalidTemplate, "the API server refused the workers: " + error.message};
  return std::nullopt;
}

// The same for what was only tried.
base::Result<std::optional<Problem>> judge_try(const base::Result<std::string>& answer) {
  std::optional<Problem> none;
  if (answer) return none;
  const auto& error = answer.error();
  if (error.code == base::ErrorCode::kAlreadyExists || kube::cannot_dry_run(error) ||
      kube::is_missing_rule(error))
    return none;  // that is not known before it is done
  if (auto problem = problem_of(error)) return problem;
  if (error.http_status < 400 || error.code == base::ErrorCode::kTooManyRequests)
    return tl::unexpected<base::Error>(error);
  return std::optional(Problem{reason::kCreateFailed, error.message});
}

// A policy that changes pods may take off what binds them to the nodes of their lease.
std::optional<Problem> changed_by_policy(const std::string& pod, const api::GpuJob& job) {
  const std::string label = job.status.lease->shared() ? api::kMemberLabel : api::kNodeLeaseLabel;
  if (pod.find("\"" + label + "\"") != std::string::npos) return std::nullopt;
  return Problem{reason::kWorkerChanged,
                 "an admission policy of this cluster takes the node affinity for " + label +
                     " off worker pods, so they would run on nodes that the job does not hold"};
}

std::vector<const api::ResourceType*> kinds_of(const api::GpuJob& job) {
  if (planning::is_gang(job.spec)) return {&api::StatefulSet::kType, &api::Service::kType};
  return {&api::BatchJob::kType};
}

// Their kinds and names follow from the job: every value that it ever had is one of the first n, and its
// shape is the one that the lease was for.
bool are_known(const api::GpuJob& job) {
  const auto& lease = job.status.lease;
  return lease && job.status.lease_sequence <= kFewLeases && lease->spec_hash == api::spec_hash(job.spec);
}

// By name. What lease it is of is in its name too, whatever became of its labels.
base::Result<std::vector<Child>> named_children(kube::Client& client, const api::GpuJob& job,
                                                std::stop_token stop) {
  std::vector<Child> children;
  for (const auto* type : kinds_of(job)) {
    for (std::int64_t n = 1; n <= job.status.lease_sequence; ++n) {
      const auto id = api::LeaseValue{job.metadata.uid, n}.to_string();
      const auto found = read_metadata(client, *type, {job.metadata.ns, planning::child_name(job, id)}, stop);
      if (!found && found.error().code == base::ErrorCode::kNotFound) continue;
      if (!found) return tl::unexpected<base::Error>(found.error());
      if (!planning::is_child(found->metadata, job)) continue;
      children.push_back(describe(*type, found->metadata));
      children.back().lease_id = id;
    }
  }
  return children;
}

}  // namespace

Children::Children(kube::Client& client, Caches& caches, base::Clock& clock, std::string launcher_image)
    : client_(client), caches_(caches), clock_(clock), launcher_image_(std::move(launcher_image)) {
  forget_deleted(caches.stateful_sets);
  forget_deleted(caches.batch_jobs);
  forget_deleted(caches.services);
}

// What somebody deleted a moment after we made it is gone, whatever we remember.
template <class K>
void Children::forget_deleted(runtime::Informer<K>& informer) {
  informer.on_change([this](const runtime::Change<K>& change) {
    if (!change.before || (change.after && change.after->metadata.uid == change.before->metadata.uid)) return;
    const std::lock_guard lock(mutex_);
    const auto& metadata = change.before->metadata;
    recent_.erase({metadata.label(api::kLease), metadata.uid});
  });
}

planning::ManifestOptions Children::manifest_options(const ChildOptions& options) const {
  return {launcher_image_, options.gpu_resource, options.max_grace_seconds};
}

base::Result<Children::Made> Children::create_one(const api::ResourceType& type, const api::GpuJob& job,
                                                  const std::string& body, std::stop_token stop) {
  const api::ObjectKey key{job.metadata.ns, planning::child_name(job, job.status.lease->id)};
  const auto created = client_.create(type, job.metadata.ns, body, stop);
  if (created) return judge(type, job, kube::decode<api::Service>(created));
  const auto& error = created.error();
  if (error.code == base::ErrorCode::kAlreadyExists) {
    const auto there = read_metadata(client_, type, key, stop);
    if (!there && there.error().code == base::ErrorCode::kNotFound)
      return Made{.waits_for = "another " + std::string(type.kind) + " of its name was just deleted"};
    return judge(type, job, there);
  }
  const auto problem = problem_of(error);
  if (!problem) return tl::unexpected<base::Error>(error);
  // Refused before anybody looked whether it exists: of a quota of one Job, an earlier try may have had it.
  const auto there = read_metadata(client_, type, key, stop);
  if (there && planning::is_child(there->metadata, job)) return judge(type, job, there);
  if (!there && there.error().code != base::ErrorCode::kNotFound &&
      there.error().code != base::ErrorCode::kForbidden) {
    return tl::unexpected<base::Error>(there.error());
  }
  return Made{.problem = problem};
}

base::Result<Children::Made> Children::judge(const api::ResourceType& type, const api::GpuJob& job,
                                             const base::Result<api::Service>& made) {
  if (!made) return tl::unexpected<base::Error>(made.error());
  const auto& metadata = made->metadata;
  if (metadata.controller_uid() == job.metadata.uid) {
    if (metadata.deleting())
      return Made{.waits_for = std::string(type.kind) + " " + metadata.name + " is being deleted"};
    note(describe(type, metadata), false);
    return Made{.complete = true};
  }
  // Of an earlier job of this name: the garbage collector is about to take it.
  const bool orphan = !metadata.owner_references.empty() &&
                      metadata.owner_references[0].kind == api::GpuJob::kType.kind &&
                      caches_.jobs.store().by_index(kByUid, metadata.controller_uid()).empty();
  const auto name = std::string(type.kind) + " " + metadata.name;
  if (orphan || metadata.deleting()) return Made{.waits_for = name + " of somebody else is being deleted"};
  return Made{.problem = Problem{reason::kNameConflict,
                                 name + " exists and belongs to somebody else; delete or rename it"}};
}

base::Result<Children::Made> Children::create_service(const api::GpuJob& job, const ChildOptions& options,
                                                      std::stop_token stop) {
  const auto manifests = planning::make_manifests(job, manifest_options(options));
  return create_one(api::Service::kType, job, manifests.service, stop);
}

base::Result<Children::Made> Children::create(const api::GpuJob& job, const ChildOptions& options,
                                              std::stop_token stop) {
  const auto manifests = planning::make_manifests(job, manifest_options(options));
  if (!manifests.service.empty()) {
    const auto rehearsed =
        client_.try_create(api::BatchJob::kType, job.metadata.ns, manifests.rehearsal, stop);
    const bool invalid = !rehearsed && rehearsed.error().code != base::ErrorCode::kForbidden &&
                         kube::is_refusal(rehearsed.error()) && !kube::cannot_dry_run(rehearsed.error());
    if (invalid) return Made{.problem = problem_of(rehearsed.error())};
    auto service = create_one(api::Service::kType, job, manifests.service, stop);
    if (!service || !service->complete) return service;
  }
  const auto& type = planning::is_gang(job.spec) ? api::StatefulSet::kType : api::BatchJob::kType;
  return create_one(type, job, manifests.workload, stop);
}

base::Result<std::optional<Problem>> Children::rehearse(const api::GpuJob& job, const ChildOptions& options,
                                                        std::stop_token stop) {
  const auto stalled = planning::standing_stall(job);
  if (stalled && stalled->reason == reason::kNameConflict) {
    const auto free = names_are_free(job, stop);
    if (!free) return tl::unexpected<base::Error>(free.error());
    return *free ? std::nullopt : stalled;
  }
  const auto next = planning::with_next_lease(job, options.shared);
  const auto manifests = planning::make_manifests(next, manifest_options(options));
  const auto& workload = planning::is_gang(job.spec) ? api::StatefulSet::kType : api::BatchJob::kType;
  const auto& ns = job.metadata.ns;
  if (!manifests.service.empty()) {
    auto service = judge_try(client_.try_create(api::Service::kType, ns, manifests.service, stop));
    if (!service || *service) return service;
  }
  auto made = judge_try(client_.try_create(workload, ns, manifests.workload, stop));
  if (!made || *made) return made;
  return rehearse_pod(next, options, stop);
}

base::Result<std::optional<Problem>> Children::rehearse_pod(const api::GpuJob& job,
                                                            const ChildOptions& options,
                                                            std::stop_token stop) {
  const auto pod = planning::make_worker_pod(job, manifest_options(options));
  const auto answer = client_.try_create(api::Pod::kType, job.metadata.ns, pod, stop);
  if (answer) return changed_by_policy(*answer, job);
  return judge_try(answer);
}

base::Result<bool> Children::names_are_free(const api::GpuJob& job, std::stop_token stop) {
  const auto last = api::LeaseValue{job.metadata.uid, job.status.lease_sequence}.to_string();
  const api::ObjectKey key{job.metadata.ns, planning::child_name(job, last)};
  for (const auto* type : kinds_of(job)) {
    const auto found = read_metadata(client_, *type, key, stop);
    if (!found && found.error().code == base::ErrorCode::kNotFound) continue;
    if (!found) return tl::unexpected<base::Error>(found.error());
    if (!planning::is_child(found->metadata, job)) return false;
  }
  return true;
}

base::Result<void> Children::remove(const Child& child, std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = child.uid;
  auto done = client_.remove(*child.type, child.key, options, stop);
  const bool gone = !done && (done.error().code == base::ErrorCode::kNotFound ||
                              done.error().code == base::ErrorCode::kConflict);
  if (!done && !gone) return done;
  note(child, true);
  return {};
}

void Children::note(const Child& child, bool gone) {
  const std::lock_guard lock(mutex_);
  const RecentKey key{child.lease_id, child.uid};
  recent_[key] = {child, gone, clock_.now()};
  noted_.emplace_back(clock_.now(), key);
}

void Children::forget_old() {
  const auto old = clock_.now() - kRemembered;
  for (; !noted_.empty() && noted_.front().first < old; noted_.pop_front()) {
    const auto found = recent_.find(noted_.front().second);
    if (found != recent_.end() && found->second.at < old) recent_.erase(found);
  }
}

std::vector<Child> Children::cached(const api::GpuJob& job) {
  std::vector<Child> children;
  const auto& uid = job.metadata.uid;
  collect(caches_.stateful_sets.store(), job, children);
  collect(caches_.batch_jobs.store(), job, children);
  collect(caches_.services.store(), job, children);
  const std::lock_guard lock(mutex_);
  forget_old();
  for (auto entry = recent_.lower_bound({uid, ""}); entry != recent_.end(); ++entry) {
    if (!entry->first.first.starts_with(uid)) break;
    const auto& recent = entry->second;
    const auto same = [&](const Child& child) { return child.uid == recent.child.uid; };
    if (recent.gone) {
      std::erase_if(children, same);
    } else if (std::find_if(children.begin(), children.end(), same) == children.end()) {
      children.push_back(recent.child);
    }
  }
  return children;
}

base::Result<std::vector<Child>> Children::live(const api::GpuJob& job, std::stop_token stop) {
  if (are_known(job)) return named_children(client_, job, stop);
  std::vector<Child> children;
  auto done = collect_live<api::StatefulSet>(client_, job, children, stop);
  if (done) done = collect_live<api::BatchJob>(client_, job, children, stop);
  if (done) done = collect_live<api::Service>(client_, job, children, stop);
  if (!done) return tl::unexpected<base::Error>(done.error());
  return children;
}

}  // namespace gpupool::controllers
