#include "controllers/cluster/children.h"

#include <algorithm>

#include "api/v1alpha1/reasons.h"
#include "kube/api_error.h"

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
void collect(const runtime::Store<K>& store, const std::string& job_uid, std::vector<Child>& children) {
  for (const auto& object : store.by_index(kByJobUid, job_uid)) {
    if (object->metadata.controller_uid() == job_uid)
      children.push_back(describe(K::kType, object->metadata));
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
    if (object.metadata.controller_uid() == job.metadata.uid)
      children.push_back(describe(K::kType, object.metadata));
  }
  return {};
}

// Any kind: only the metadata is read.
base::Result<api::Service> read_metadata(kube::Client& client, const api::ResourceType& type,
                                         const api::ObjectKey& key, std::stop_token stop) {
  return kube::decode<api::Service>(client.get(type, key, stop));
}

bool is_refusal(const base::Error& error) {
  return error.code == base::ErrorCode::kInvalid || error.code == base::ErrorCode::kBadRequest;
}

Children::Made refused(const base::Error& error) {
  return {false, Problem{reason::kInvalidTemplate, "the API server refused the workers: " + error.message}};
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
      if (found->metadata.controller_uid() != job.metadata.uid) continue;
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

base::Result<Children::Made> Children::create_one(const api::ResourceType& type, const api::GpuJob& job,
                                                  const std::string& body, std::stop_token stop) {
  const api::ObjectKey key{job.metadata.ns, planning::child_name(job, job.status.lease->id)};
  const auto created = client_.create(type, job.metadata.ns, body, stop);
  if (created) return judge(type, job, kube::decode<api::Service>(created));
  const auto& error = created.error();
  const bool forbidden = error.code == base::ErrorCode::kForbidden;
  if (forbidden && kube::is_namespace_terminating(error)) return Made{};
  if (error.code == base::ErrorCode::kAlreadyExists) {
    const auto there = read_metadata(client_, type, key, stop);
    if (!there && there.error().code == base::ErrorCode::kNotFound) return Made{};  // just gone: again
    return judge(type, job, there);
  }
  if (!forbidden && !is_refusal(error)) return tl::unexpected<base::Error>(error);
  // Refused before anybody looked whether it exists: of a quota of one Job, an earlier try may have had it.
  const auto there = read_metadata(client_, type, key, stop);
  if (there && there->metadata.controller_uid() == job.metadata.uid) return judge(type, job, there);
  if (!there && there.error().code != base::ErrorCode::kNotFound &&
      there.error().code != base::ErrorCode::kForbidden) {
    return tl::unexpected<base::Error>(there.error());
  }
  return forbidden ? Made{false, Problem{reason::kForbidden, error.message}} : refused(error);
}

base::Result<Children::Made> Children::judge(const api::ResourceType& type, const api::GpuJob& job,
                                             const base::Result<api::Service>& made) {
  if (!made) return tl::unexpected<base::Error>(made.error());
  const auto& metadata = made->metadata;
  if (metadata.controller_uid() == job.metadata.uid) {
    if (metadata.deleting()) return Made{};
    note(describe(type, metadata), false);
    return Made{true, std::nullopt};
  }
  // Of an earlier job of this name: the garbage collector is about to take it.
  const bool orphan = !metadata.owner_references.empty() &&
                      metadata.owner_references[0].kind == api::GpuJob::kType.kind &&
                      caches_.jobs.store().by_index(kByUid, metadata.controller_uid()).empty();
  if (orphan || metadata.deleting()) return Made{};
  return Made{
      false, Problem{reason::kNameConflict, std::string(type.kind) + " " + metadata.name +
                                                " exists and belongs to somebody else; delete or rename it"}};
}

base::Result<Children::Made> Children::create_service(const api::GpuJob& job, const ChildOptions& options,
                                                      std::stop_token stop) {
  const auto manifests =
      planning::make_manifests(job, {launcher_image_, options.gpu_resource, options.max_grace_seconds});
  return create_one(api::Service::kType, job, manifests.service, stop);
}

base::Result<Children::Made> Children::create(const api::GpuJob& job, const ChildOptions& options,
                                              std::stop_token stop) {
  const auto manifests =
      planning::make_manifests(job, {launcher_image_, options.gpu_resource, options.max_grace_seconds});
  if (!manifests.service.empty()) {
    const auto rehearsed =
        client_.try_create(api::BatchJob::kType, job.metadata.ns, manifests.rehearsal, stop);
    if (!rehearsed && is_refusal(rehearsed.error())) return refused(rehearsed.error());
    auto service = create_one(api::Service::kType, job, manifests.service, stop);
    if (!service || !service->complete) return service;
  }
  const auto& type = planning::is_gang(job.spec) ? api::StatefulSet::kType : api::BatchJob::kType;
  return create_one(type, job, manifests.workload, stop);
}

base::Result<bool> Children::names_are_free(const api::GpuJob& job, std::stop_token stop) {
  const auto last = api::LeaseValue{job.metadata.uid, job.status.lease_sequence}.to_string();
  const api::ObjectKey key{job.metadata.ns, planning::child_name(job, last)};
  for (const auto* type : kinds_of(job)) {
    const auto found = read_metadata(client_, *type, key, stop);
    if (!found && found.error().code == base::ErrorCode::kNotFound) continue;
    if (!found) return tl::unexpected<base::Error>(found.error());
    if (found->metadata.controller_uid() != job.metadata.uid) return false;
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
  collect(caches_.stateful_sets.store(), uid, children);
  collect(caches_.batch_jobs.store(), uid, children);
  collect(caches_.services.store(), uid, children);
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
