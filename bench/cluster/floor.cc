// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/floor.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "kube/patch.h"
#include "planning/job/job_status.h"
#include "planning/workers/manifests.h"
#include "planning/workers/pod_end.h"

namespace gpupool::bench {
namespace {

using base::json::quote;

runtime::ReflectorOptions workers_only() {
  runtime::ReflectorOptions options;
  options.label_selector = api::kJobUidLabel;
  return options;
}

std::string finalizer_on(const api::GpuJob& job) {
  return kube::JsonPatch()
      .only_if_version(job.metadata.resource_version)
      .add("/metadata/finalizers", "[" + quote(api::kLease) + "]")
      .text();
}

const std::string& pool_of(const api::Node& node) {
  static const std::string kNone;
  const auto found = node.metadata.labels.find(Floor::kPoolOfNode);
  return found == node.metadata.labels.end() ? kNone : found->second;
}

// The outcome is known. The launcher of a gang's worker waits after its end.
bool is_over(const api::Pod& pod) { return planning::has_ended(pod) || planning::has_result(pod); }

kube::DeleteOptions only(const std::string& uid) {
  kube::DeleteOptions options;
  options.uid = uid;
  return options;
}

std::string mark_patch(const api::Node& node, const api::GpuJob& job, bool taken) {
  kube::JsonPatch patch;
  patch.only_if_version(node.metadata.resource_version);
  const auto label = kube::json_pointer({"metadata", "labels", api::kNodeLeaseLabel});
  const auto annotation = kube::json_pointer({"metadata", "annotations", api::kLease});
  const auto& taints = node.spec.taints;
  const auto found = std::find_if(taints.begin(), taints.end(),
                                  [](const api::Taint& taint) { return taint.key == api::kLease; });
  // The node controller writes the whole list, and may bring back a taint that was removed.
  const bool has = found != taints.end();
  if (has) patch.remove("/spec/taints/" + std::to_string(found - taints.begin()));
  if (taken) {
    const auto& id = job.status.lease->id;
    const auto taint =
        R"({"key":")" + std::string(api::kLease) + R"(","value":)" + quote(id) + R"(,"effect":"NoSchedule"})";
    if (taints.empty()) {
      patch.add("/spec/taints", "[" + taint + "]");
    } else {
      patch.add("/spec/taints/-", taint);
    }
    patch.add(label, quote(id));
    if (node.metadata.annotations.empty()) patch.add("/metadata/annotations", "{}");
    patch.add(annotation, quote(job.metadata.key().to_string()));
  } else {
    patch.remove(label).remove(annotation);
  }
  return patch.text();
}

}  // namespace

std::string finalizer_off(const std::string& finalizer) {
  return kube::JsonPatch()
      .test("/metadata/finalizers/0", quote(finalizer))
      .remove("/metadata/finalizers/0")
      .text();
}

// A pod that stays leaves the caches by its label.
std::string worker_off(const api::Pod& pod) {
  kube::JsonPatch patch;
  patch.test("/metadata/finalizers/0", quote(api::kWorkerFinalizer)).remove("/metadata/finalizers/0");
  if (!pod.metadata.deleting()) patch.remove(kube::json_pointer({"metadata", "labels", api::kJobUidLabel}));
  return patch.text();
}

Floor::Floor(Connection& connection, const std::string& gpu_resource, int threads, bool watch_nodes)
    : connection_(connection),
      gpu_resource_(gpu_resource),
      threads_(threads),
      watch_nodes_(watch_nodes),
      jobs_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
      pods_(connection.client(), workers_only(), connection.clock(), connection.metrics(), connection.log()),
      nodes_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
      queue_(connection.clock(), std::chrono::seconds(1)) {
  pods_.store().add_index("job", [](const api::Pod& pod) {
    return std::vector{pod.metadata.ns + "/" + pod.metadata.label(api::kJobNameLabel)};
  });
  jobs_.on_change([this](const runtime::Change<api::GpuJob>& change) {
    const bool news = !change.before || (change.after && change.after->metadata.deleting());
    if (change.after && news) queue_.add(change.after->metadata.key());
  });
  pods_.on_change([this](const runtime::Change<api::Pod>& change) {
    if (!change.after || !is_over(*change.after)) return;
    queue_.add({change.after->metadata.ns, change.after->metadata.label(api::kJobNameLabel)});
  });
  nodes_.on_change([this](const runtime::Change<api::Node>& change) {
    if (!change.after || change.after->ready()) return;
    const auto holder = change.after->metadata.annotation(api::kLease);
    const auto slash = holder.find('/');
    if (slash != std::string::npos) queue_.add({holder.substr(0, slash), holder.substr(slash + 1)});
  });
}

void Floor::start() {
  for (auto& node : must(kube::list<api::Node>(connection_.client(), "", {}, {}), "list nodes"))
    pools_[pool_of(node)].free.push_back(std::move(node));
  std::vector<runtime::Reflector*> caches{&pods_.reflector(), &jobs_.reflector()};
  if (watch_nodes_) caches.push_back(&nodes_.reflector());
  running_ = connection_.fill(caches);
  for (int i = 0; i < threads_; ++i) {
    running_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Floor::~Floor() {
  for (auto& thread : running_) thread.request_stop();
}

void Floor::work(const std::stop_token& stop) {
  while (const auto key = queue_.get(stop)) {
    step(*key, stop);
    queue_.done(*key);
  }
}

void Floor::step(const api::ObjectKey& key, const std::stop_token& stop) {
  const auto job = jobs_.store().get(key);
  if (job == nullptr) return;
  Life* life = nullptr;  // its address is stable; one thread at a time has its key
  {
    const std::lock_guard lock(mutex_);
    life = &lives_[key];
  }
  if (life->stage == Stage::kDone) {
    if (job->metadata.deleting()) remove(*life, *job, stop);
    return;
  }
  if (life->stage == Stage::kNew) {
    life->job = *job;
    if (!take_free_nodes(*life, key)) return;
    begin(*life, stop);
  }
  if (lost(*life)) return move(*life, stop);
  const auto pods = pods_.store().by_index("job", key.to_string());
  const auto over = std::count_if(pods.begin(), pods.end(), [](const auto& pod) { return is_over(*pod); });
  if (life->stage == Stage::kRunning && job->metadata.deleting()) {
    life->job = *job;
    finish(*life, api::outcome::kDeleted, stop);
  }
  if (life->stage == Stage::kRunning && over == api::worker_count(life->job.spec)) {
    finish(*life, api::outcome::kSucceeded, stop);
  }
  if (life->stage == Stage::kReleasing) release(*life, pods, stop);
}

// Returns false if there are too few; the job is then called again when there are enough.
bool Floor::take_free_nodes(Life& life, const api::ObjectKey& job) {
  const std::lock_guard lock(mutex_);
  if (!life.nodes.empty()) return true;
  if (std::exchange(life.waits, true)) return false;
  auto& pool = pools_[life.job.spec.pool];
  pool.waiting.push_back({job, static_cast<std::size_t>(api::worker_count(life.job.spec))});
  serve_waiting(pool);
  return !life.nodes.empty();
}

void Floor::give_free_node(api::Node node) {
  const std::lock_guard lock(mutex_);
  auto& pool = pools_[pool_of(node)];
  pool.free.push_back(std::move(node));
  serve_waiting(pool);
}

// REQUIRES: mutex_ is held.
void Floor::serve_waiting(Pool& pool) {
  while (!pool.waiting.empty() && pool.free.size() >= pool.waiting.front().nodes) {
    const auto& next = pool.waiting.front();
    auto& nodes = lives_[next.job].nodes;
    const auto first = pool.free.end() - static_cast<std::ptrdiff_t>(next.nodes);
    std::move(first, pool.free.end(), std::back_inserter(nodes));
    pool.free.erase(first, pool.free.end());
    queue_.add(next.job);
    pool.waiting.pop_front();
  }
}

void Floor::write_status(api::GpuJob& job, const api::GpuJobStatus& status, const std::stop_token& stop) {
  auto next = status;
  planning::settle_status(next, job.metadata.generation, std::nullopt, connection_.clock().wall());
  job = must(
      kube::decode<api::GpuJob>(connection_.client().update(
          api::GpuJob::kType, job.metadata.key(), api::status_update(job.metadata, next), "status", stop)),
      "write a status");
}

void Floor::mark(api::Node& node, const api::GpuJob& job, bool taken, const std::stop_token& stop) {
  const auto write = [&] {
    return kube::decode<api::Node>(connection_.client().patch(api::Node::kType, node.metadata.key(),
                                                              kube::PatchType::kJson,
                                                              mark_patch(node, job, taken), "", stop));
  };
  auto written = write();
  // Others write nodes too: the node controller removes its own taint at some time. A patch whose paths no
  // longer fit gets kInvalid before its version is checked.
  for (int i = 0; i < 5 && !written; ++i) {
    const auto code = written.error().code;
    if (code != base::ErrorCode::kConflict && code != base::ErrorCode::kInvalid) break;
    node = must(kube::get<api::Node>(connection_.client(), node.metadata.key(), stop), "read a node");
    written = write();
  }
  node = must(std::move(written), taken ? "take a node" : "free a node");
}

// Writes finalizer, intent, nodes, children, and the state Running.
void Floor::begin(Life& life, const std::stop_token& stop) {
  auto& job = life.job;
  job =
      must(kube::decode<api::GpuJob>(connection_.client().patch(
               api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson, finalizer_on(job), "", stop)),
           "add the finalizer");
  auto status = job.status;
  status.lease_sequence = 1;
  status.lease.emplace();
  status.lease->id = api::LeaseValue{job.metadata.uid, 1}.to_string();
  status.lease->state = api::lease_state::kTaking;
  status.lease->spec_hash = api::spec_hash(job.spec);
  for (const auto& node : life.nodes) status.lease->nodes.push_back({node.metadata.name, node.metadata.uid});
  status.phase = api::phase::kStarting;
  status.reason = api::reason::kStartingWorkers;
  status.message = "starting workers on " + planning::summarize_nodes(status.lease->nodes);
  write_status(job, status, stop);
  for (auto& node : life.nodes) mark(node, job, true, stop);
  create_children(life, stop);
  life.stage = Stage::kRunning;
  // The outcome of one worker says that it has run. bench_loss, for which nodes are watched, waits for
  // Running.
  if (!planning::is_gang(job.spec) && !watch_nodes_) return;
  status = job.status;
  status.lease->state = api::lease_state::kRunning;
  status.phase = api::phase::kRunning;
  status.attempts = 1;
  const auto workers = api::worker_count(job.spec);
  status.workers = {workers, workers, 0};
  write_status(job, status, stop);
}

void Floor::create_children(Life& life, const std::stop_token& stop) {
  auto& client = connection_.client();
  const auto& ns = life.job.metadata.ns;
  const auto manifests = planning::make_manifests(
      life.job, {{"gpupool.dev/launcher:dev", "gpupool.dev/carry:dev"}, gpu_resource_});
  if (!planning::is_gang(life.job.spec)) {
    const auto made = client.create(api::BatchJob::kType, ns, manifests.workload, stop);
    life.child_uid = must(kube::decode<api::BatchJob>(made), "create the Job").metadata.uid;
    return;
  }
  const auto service = client.create(api::Service::kType, ns, manifests.service, stop);
  life.service_uid = must(kube::decode<api::Service>(service), "create the Service").metadata.uid;
  const auto made = client.create(api::StatefulSet::kType, ns, manifests.workload, stop);
  life.child_uid = must(kube::decode<api::StatefulSet>(made), "create the StatefulSet").metadata.uid;
}

// Writes the outcome and deletes the children, but for a Job that has succeeded: it stays, with its pod. Node
// and finalizer of each worker follow when it has ended.
void Floor::finish(Life& life, const char* outcome, const std::stop_token& stop) {
  auto status = life.job.status;
  status.lease->state = api::lease_state::kReleasing;
  status.lease->outcome = outcome;
  status.phase = api::phase::kReleasing;
  write_status(life.job, status, stop);
  const bool stays = !planning::is_gang(life.job.spec) && status.lease->outcome == api::outcome::kSucceeded;
  if (!stays) remove_children(life, stop);
  life.stage = Stage::kReleasing;
}

void Floor::remove_children(Life& life, const std::stop_token& stop) {
  const auto drop = [&](const api::ResourceType& type, const std::string& uid, const char* what) {
    const api::ObjectKey key{life.job.metadata.ns, planning::child_name(life.job, life.job.status.lease->id)};
    must(connection_.client().remove(type, key, only(uid), stop).map([](const std::string&) { return true; }),
         what);
  };
  if (!planning::is_gang(life.job.spec)) return drop(api::BatchJob::kType, life.child_uid, "delete the Job");
  drop(api::StatefulSet::kType, life.child_uid, "delete the StatefulSet");
  drop(api::Service::kType, life.service_uid, "delete the Service");
}

void Floor::release(Life& life, const Pods& pods, const std::stop_token& stop) {
  for (const auto& pod : pods) {
    const auto node = std::find_if(life.nodes.begin(), life.nodes.end(), [&](const api::Node& held) {
      return held.metadata.name == pod->spec.node_name;
    });
    if (node == life.nodes.end() || !planning::has_ended(*pod)) continue;
    mark(*node, life.job, false, stop);
    must(connection_.client().patch(api::Pod::kType, pod->metadata.key(), kube::PatchType::kJson,
                                    worker_off(*pod), "", stop),
         "take the worker's finalizer off");
    give_free_node(std::move(*node));
    life.nodes.erase(node);
  }
  if (life.nodes.empty()) clear(life, stop);
}

void Floor::clear(Life& life, const std::stop_token& stop) {
  life.stage = Stage::kDone;
  if (life.job.metadata.deleting()) return remove(life, life.job, stop);
  auto status = life.job.status;
  status.lease.reset();
  status.phase = api::phase::kSucceeded;
  const auto workers = api::worker_count(life.job.spec);
  status.workers = {workers, 0, workers};
  write_status(life.job, status, stop);
  queue_.add(life.job.metadata.key());  // it may be in deletion already
}

void Floor::remove(Life& life, const api::GpuJob& job, const std::stop_token& stop) {
  if (!job.metadata.has_finalizer(api::kLease)) return;
  give_up(life, stop);
  const auto done = connection_.client().patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson,
                                               finalizer_off(api::kLease), "", stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound)
    must(base::Result<std::string>(done), "finalizer off");
}

}  // namespace gpupool::bench
