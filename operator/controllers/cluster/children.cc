// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/children.h"

#include <algorithm>
#include <type_traits>

#include "api/core/foreign_pod.h"
#include "api/core/resource_quota.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "kube/api_error.h"
#include "planning/job/line_entry.h"
#include "planning/workers/gang_quota.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::controllers {
namespace {

using api::Problem;
using planning::Child;
namespace reason = api::reason;
using Made = JobActions::Made;
// Up to this number of lease values of a job, children are read one by one.
constexpr std::int64_t kFewLeases = 4;
constexpr char kAnyWorker[] = "worker";  // instead of the name of a pod
// In messages of the admission plugins ResourceQuota and ServiceAccount.
constexpr char kExceededQuota[] = "exceeded quota";
constexpr char kNoDefaultAccount[] = "serviceaccount \"default\" not found";

Child describe(const api::ResourceType& type, const api::ObjectMeta& metadata) {
  return {&type, metadata.key(), metadata.uid, metadata.label(api::kLease), metadata.deleting()};
}

template <class K>
Child describe(const K& object) {
  auto child = describe(K::kType, object.metadata);
  if constexpr (std::is_same_v<K, api::BatchJob>) child.ended = object.ended();
  return child;
}

// False for a Job that has succeeded: the cache has only others (Caches).
template <class K>
bool is_cached(const K& object) {
  if constexpr (std::is_same_v<K, api::BatchJob>) return object.status.succeeded == 0;
  return true;
}

template <class K>
void collect(const runtime::ReadYourWrites<K>& cache, const api::GpuJob& job, std::vector<Child>& children) {
  for (const auto& object : cache.by_index(kByJobUid, job.metadata.uid)) {
    if (planning::is_child(object->metadata, job)) children.push_back(describe(*object));
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
    if (planning::is_child(object.metadata, job)) children.push_back(describe(object));
  }
  return {};
}

// Reads a child of any kind; only metadata is decoded, and the counts that a Job has in its status.
base::Result<api::BatchJob> read_child(kube::Client& client, const api::ResourceType& type,
                                       const api::ObjectKey& key, std::stop_token stop) {
  return kube::decode<api::BatchJob>(client.get(type, key, stop));
}

// What the server's refusal of a worker or child means for the job. Nothing if it says nothing about the job,
// or if there was no answer.
std::optional<Problem> problem_of(const base::Error& error) {
  if (kube::is_namespace_terminating(error))
    return Problem{reason::kNamespaceTerminating, "its namespace is being deleted: " + error.message};
  if (error.code == base::ErrorCode::kForbidden) {
    const bool quota = error.message.find(kExceededQuota) != std::string::npos;
    return Problem{quota ? reason::kQuotaExceeded : reason::kForbidden, error.message};
  }
  if (kube::is_refusal(error))
    return Problem{reason::kTemplateRefused, "the API server refused the workers: " + error.message};
  return std::nullopt;
}

// The same for a dry run.
base::Result<std::optional<Problem>> judge_try(const base::Result<std::string>& answer) {
  std::optional<Problem> none;
  if (answer) return none;
  const auto& error = answer.error();
  if (error.code == base::ErrorCode::kAlreadyExists || kube::cannot_dry_run(error) ||
      kube::is_missing_rule(error))
    return none;  // a dry run cannot tell
  if (auto problem = problem_of(error)) return problem;
  if (error.http_status < 400 || error.code == base::ErrorCode::kTooManyRequests)
    return tl::unexpected<base::Error>(error);
  return std::optional(Problem{reason::kCreateFailed, error.message});
}

// Without the name of the pod, for other jobs with the same template.
Problem unnamed(Problem problem, const api::GpuJob& job) {
  const auto name = planning::child_name(job, job.status.lease->id) + "-0";
  for (auto at = problem.message.find(name); at != std::string::npos; at = problem.message.find(name, at))
    problem.message.replace(at, name.size(), kAnyWorker);
  return problem;
}

// An admission policy that changes pods may remove the selection of the lease's nodes.
std::optional<Problem> changed_by_policy(const std::string& pod, const api::GpuJob& job) {
  const std::string label = job.status.lease->shared() ? api::kMemberLabel : api::kNodeLeaseLabel;
  if (pod.find("\"" + label + "\"") != std::string::npos) return std::nullopt;
  return Problem{reason::kWorkerChanged,
                 "an admission policy of this cluster takes the node affinity for " + label +
                     " off worker pods, so they would run on nodes that the job does not hold"};
}

base::Result<std::optional<Problem>> judge_try_pod(const base::Result<std::string>& answer,
                                                   const api::GpuJob& job) {
  if (answer) return changed_by_policy(*answer, job);
  return judge_try(answer);
}

std::vector<const api::ResourceType*> kinds_of(const api::GpuJob& job) {
  if (planning::is_gang(job.spec)) return {&api::StatefulSet::kType, &api::Service::kType};
  return {&api::BatchJob::kType};
}

// True if kinds and names of all children follow from the job: its lease values are the first n, and the
// lease has the shape of the spec.
bool are_known(const api::GpuJob& job) {
  const auto& lease = job.status.lease;
  return lease && job.status.lease_sequence <= kFewLeases && lease->spec_hash == api::spec_hash(job.spec);
}

std::string name_of(const api::ResourceType& type, const api::GpuJob& job, const std::string& lease_id) {
  const bool service = &type == &api::Service::kType;
  return service ? planning::service_name(job, lease_id) : planning::child_name(job, lease_id);
}

// Reads children by name. The name contains the lease value's number, whatever happened to the labels.
base::Result<std::vector<Child>> named_children(kube::Client& client, const api::GpuJob& job,
                                                std::stop_token stop) {
  std::vector<Child> children;
  for (const auto* type : kinds_of(job)) {
    for (std::int64_t n = 1; n <= job.status.lease_sequence; ++n) {
      const auto id = api::LeaseValue{job.metadata.uid, n}.to_string();
      const auto found = read_child(client, *type, {job.metadata.ns, name_of(*type, job, id)}, stop);
      if (!found && found.error().code == base::ErrorCode::kNotFound) continue;
      if (!found) return tl::unexpected<base::Error>(found.error());
      if (!planning::is_child(found->metadata, job)) continue;
      children.push_back(describe(*type, found->metadata));
      children.back().lease_id = id;
      children.back().ended = type == &api::BatchJob::kType && found->ended();
    }
  }
  return children;
}

}  // namespace

bool Children::is_shared(const api::GpuJob& job) const {
  if (job.status.lease) return job.status.lease->shared();
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  return pool != nullptr && pool->spec.sharing.has_value();
}

bool Children::of_gpus(const api::GpuJob& job) const {
  if (job.status.lease) return job.status.lease->of_gpus();
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  return pool != nullptr && pool->spec.rents_gpus();
}

planning::ManifestOptions Children::manifest_options(const api::GpuJob& job) const {
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  const bool shared = is_shared(job);
  planning::ManifestOptions options{.images = settings_.images, .gpu_resource = {}};
  if (settings_.keeper) options.keeper = settings_.keeper();
  if (pool != nullptr) options.max_grace_seconds = pool->spec.max_termination_grace_period_seconds;
  const bool gpus = of_gpus(job);
  const bool as_leased =
      pool != nullptr && pool->spec.sharing.has_value() == shared && pool->spec.rents_gpus() == gpus;
  if (as_leased) {
    options.gpu_resource = pool->spec.worker_resource();
  } else {  // the pool is gone, or has changed its kind since the lease was taken
    options.gpu_resource = shared && !gpus ? api::PoolSharing{}.resource_name : api::PoolGpus{}.resource_name;
  }
  return options;
}

template <class K>
base::Result<Made> Children::create_one(runtime::ReadYourWrites<K>& cache, const api::GpuJob& job,
                                        const std::string& body, std::stop_token stop) {
  const api::ObjectKey key{job.metadata.ns, name_of(K::kType, job, job.status.lease->id)};
  typename runtime::ReadYourWrites<K>::Creation creation(cache, key);
  const auto accept = [&](K found) {
    auto made = judge(job, found);
    if (!made.waits_for.empty()) drop_kept(found, stop);
    if (made.complete && is_cached(found)) creation.created(std::move(found));
    return made;
  };
  auto created = kube::decode<K>(client_.create(K::kType, job.metadata.ns, body, stop));
  if (created) return accept(*std::move(created));
  const auto& error = created.error();
  if (error.code == base::ErrorCode::kAlreadyExists) {
    auto there = kube::get<K>(client_, key, stop);
    if (there) return accept(*std::move(there));
    if (there.error().code != base::ErrorCode::kNotFound) return tl::unexpected<base::Error>(there.error());
    return Made{.waits_for = "another " + std::string(K::kType.kind) + " of its name was just deleted"};
  }
  const auto problem = problem_of(error);
  if (!problem) return tl::unexpected<base::Error>(error);
  // The server may refuse before it checks whether the object exists: with a quota of one Job, an earlier try
  // may have created it.
  auto there = kube::get<K>(client_, key, stop);
  if (there && planning::is_child(there->metadata, job)) return accept(*std::move(there));
  if (!there && there.error().code != base::ErrorCode::kNotFound &&
      there.error().code != base::ErrorCode::kForbidden) {
    return tl::unexpected<base::Error>(there.error());
  }
  return Made{.problem = problem};
}

template <class K>
Made Children::judge(const api::GpuJob& job, const K& found) const {
  const auto& metadata = found.metadata;
  const auto name = std::string(K::kType.kind) + " " + metadata.name;
  if (metadata.controller_uid() == job.metadata.uid) {
    if (metadata.deleting()) return {.waits_for = name + " is being deleted"};
    return {.complete = true};
  }
  // The object belongs to an earlier job with this name; the garbage collector will delete it.
  const bool orphan = !metadata.owner_references.empty() &&
                      metadata.owner_references[0].kind == api::GpuJob::kType.kind &&
                      caches_.jobs.store().by_index(kByUid, metadata.controller_uid()).empty();
  if (orphan || metadata.deleting()) return {.waits_for = name + " of somebody else is being deleted"};
  return {.problem = Problem{reason::kNameConflict,
                             name + " exists and belongs to somebody else; delete or rename it"}};
}

// A worker that has ended stays until its GpuJob goes. If a new GpuJob has the name of one that is gone, it
// does not wait for the garbage collector, which may take long. Failures do not matter: the collector comes
// too.
template <class K>
void Children::drop_kept(const K& found, std::stop_token stop) {
  if constexpr (std::is_same_v<K, api::BatchJob>) {
    if (!found.ended() || found.metadata.deleting()) return;
    kube::DeleteOptions options;
    options.uid = found.metadata.uid;
    static_cast<void>(client_.remove(K::kType, found.metadata.key(), options, stop));
  }
}

base::Result<Made> Children::create_service(const api::GpuJob& job, std::stop_token stop) {
  const auto manifests = planning::make_manifests(job, manifest_options(job));
  return create_one(caches_.newest_services, job, manifests.service, stop);
}

base::Result<Made> Children::create(const api::GpuJob& job, std::stop_token stop) {
  const auto manifests = planning::make_manifests(job, manifest_options(job));
  if (!planning::is_gang(job.spec))
    return create_one(caches_.newest_batch_jobs, job, manifests.workload, stop);
  const auto rehearsed = client_.try_create(api::BatchJob::kType, job.metadata.ns, manifests.rehearsal, stop);
  const bool invalid = !rehearsed && rehearsed.error().code != base::ErrorCode::kForbidden &&
                       kube::is_refusal(rehearsed.error()) && !kube::cannot_dry_run(rehearsed.error());
  if (invalid) return Made{.problem = problem_of(rehearsed.error())};
  auto service = create_one(caches_.newest_services, job, manifests.service, stop);
  if (!service || !service->complete) return service;
  return create_one(caches_.newest_stateful_sets, job, manifests.workload, stop);
}

base::Result<std::optional<Problem>> Children::rehearse(const api::GpuJob& job, std::stop_token stop) {
  const auto stalled = planning::standing_stall(job);
  if (stalled && stalled->reason == reason::kNameConflict) {
    const auto free = names_are_free(job, stop);
    if (!free) return tl::unexpected<base::Error>(free.error());
    return *free ? std::nullopt : stalled;
  }
  if (auto known = first_answers_.refusal(job)) return known;
  const auto next = planning::with_next_lease(job, is_shared(job), of_gpus(job));
  const auto options = manifest_options(next);
  const auto manifests = planning::make_manifests(next, options);
  const auto& workload = planning::is_gang(job.spec) ? api::StatefulSet::kType : api::BatchJob::kType;
  const auto& ns = job.metadata.ns;
  if (!manifests.service.empty()) {
    auto service = judge_try(client_.try_create(api::Service::kType, ns, manifests.service, stop));
    if (!service || *service) return service;
  }
  auto made = judge_try(client_.try_create(workload, ns, manifests.workload, stop));
  if (!made || *made) return made;
  auto answer = judge_workers(try_pod(next, options, stop), next, stop);
  if (answer && *answer) first_answers_.refused(job, unnamed(**answer, next));
  return answer;
}

std::optional<base::Result<std::optional<Problem>>> Children::rehearse_first(const api::GpuJob& job,
                                                                             std::stop_token stop) {
  return first_answers_.get(job, [&]() -> base::Result<std::optional<Problem>> {
    const auto next = planning::with_next_lease(job, is_shared(job), of_gpus(job));
    const auto made = try_pod(next, manifest_options(next), stop);
    // A server that is too busy or fails has not refused the job, which would lose its turn.
    const int status = made ? 0 : made.error().http_status;
    if (status == 429 || (status >= 500 && !kube::is_webhook_failure(made.error())))
      return std::optional<Problem>();
    auto answer = judge_workers(made, next, stop);
    // A namespace that was just created has no default account for a moment.
    const bool too_early =
        answer && *answer && (*answer)->message.find(kNoDefaultAccount) != std::string::npos;
    if (too_early) return std::optional<Problem>();
    if (answer && *answer) return std::optional(unnamed(**answer, next));
    return answer;
  });
}

base::Result<std::optional<Problem>> Children::rehearse_pod(const api::GpuJob& job, std::stop_token stop) {
  auto answer = judge_try_pod(try_pod(job, manifest_options(job), stop), job);
  if (answer && *answer) first_answers_.refused(job, unnamed(**answer, job));
  return answer;
}

base::Result<std::string> Children::try_pod(const api::GpuJob& job, const planning::ManifestOptions& options,
                                            std::stop_token stop) {
  return client_.try_create(api::Pod::kType, job.metadata.ns, planning::make_worker_pod(job, options), stop);
}

// The server admits one worker: do the quotas of the namespace admit all of them?
base::Result<std::optional<Problem>> Children::judge_workers(const base::Result<std::string>& one,
                                                             const api::GpuJob& job, std::stop_token stop) {
  auto answer = judge_try_pod(one, job);
  if (!one || !answer || *answer || !planning::is_gang(job.spec)) return answer;
  const auto worker = base::json::read<api::ForeignPod>(*one);
  const auto quotas = kube::list<api::ResourceQuota>(client_, job.metadata.ns, {}, stop);
  if (!worker || !quotas) return answer;  // it cannot be told, for example without the right
  auto exceeded = planning::exceeded_quota(*quotas, *worker, api::worker_count(job.spec));
  if (!exceeded.empty()) answer = Problem{reason::kQuotaExceeded, std::move(exceeded)};
  return answer;
}

base::Result<bool> Children::names_are_free(const api::GpuJob& job, std::stop_token stop) {
  const auto last = api::LeaseValue{job.metadata.uid, job.status.lease_sequence}.to_string();
  for (const auto* type : kinds_of(job)) {
    const auto found = read_child(client_, *type, {job.metadata.ns, name_of(*type, job, last)}, stop);
    if (!found && found.error().code == base::ErrorCode::kNotFound) continue;
    if (!found) return tl::unexpected<base::Error>(found.error());
    if (!planning::is_child(found->metadata, job)) return false;
  }
  return true;
}

base::Result<void> Children::remove(const Child& child, std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = child.uid;
  const auto done = client_.remove(*child.type, child.key, options, stop);
  const bool gone = !done && (done.error().code == base::ErrorCode::kNotFound ||
                              done.error().code == base::ErrorCode::kConflict);
  if (!done && !gone) return tl::unexpected<base::Error>(done.error());
  if (child.type == &api::StatefulSet::kType) caches_.newest_stateful_sets.gone(child.key, child.uid);
  if (child.type == &api::BatchJob::kType) caches_.newest_batch_jobs.gone(child.key, child.uid);
  if (child.type == &api::Service::kType) caches_.newest_services.gone(child.key, child.uid);
  return {};
}

std::vector<Child> Children::cached(const api::GpuJob& job) const {
  std::vector<Child> children;
  collect(caches_.newest_stateful_sets, job, children);
  collect(caches_.newest_batch_jobs, job, children);
  collect(caches_.newest_services, job, children);
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
