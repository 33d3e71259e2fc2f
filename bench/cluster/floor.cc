#include "bench/cluster/floor.h"

#include <cstdio>
#include <cstdlib>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "kube/patch.h"
#include "planning/assess_workers.h"
#include "planning/job_status.h"
#include "planning/manifests.h"

namespace gpupool::bench {
namespace {

using base::json::quote;

runtime::ReflectorOptions workers_only() {
  runtime::ReflectorOptions options;
  options.label_selector = api::kJobUidLabel;
  return options;
}

// A floor that skips a write would be none.
template <class T>
T must(base::Result<T> result, const char* what) {
  if (!result) {
    std::fprintf(stderr, "bench_floor: %s: %s\n", what, result.error().message.c_str());
    std::_Exit(EXIT_FAILURE);
  }
  return *std::move(result);
}

std::string finalizer_on(const api::GpuJob& job) {
  return kube::JsonPatch()
      .only_if_version(job.metadata.resource_version)
      .add("/metadata/finalizers", "[" + quote(api::kLease) + "]")
      .text();
}

std::string finalizer_off(const std::string& finalizer) {
  return kube::JsonPatch()
      .test("/metadata/finalizers/0", quote(finalizer))
      .remove("/metadata/finalizers/0")
      .text();
}

}  // namespace

Floor::Floor(Connection& connection, const std::string& gpu_resource, int workers)
    : connection_(connection),
      gpu_resource_(gpu_resource),
      workers_(workers),
      jobs_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
      pods_(connection.client(), workers_only(), connection.clock(), connection.metrics(), connection.log()),
      queue_(connection.clock(), std::chrono::seconds(1)) {
  pods_.store().add_index("job", [](const api::Pod& pod) {
    return std::vector{pod.metadata.ns + "/" + pod.metadata.label(api::kJobNameLabel)};
  });
  jobs_.on_change([this](const runtime::Change<api::GpuJob>& change) {
    const bool news = !change.before || (change.after && change.after->metadata.deleting());
    if (change.after && news) queue_.add(change.after->metadata.key());
  });
  pods_.on_change([this](const runtime::Change<api::Pod>& change) {
    if (!change.after || !planning::has_ended(*change.after)) return;
    queue_.add({change.after->metadata.ns, change.after->metadata.label(api::kJobNameLabel)});
  });
}

bool Floor::start() {
  free_ = must(kube::list<api::Node>(connection_.client(), "", {}, {}), "list nodes");
  running_.emplace_back([this](std::stop_token stop) { pods_.reflector().run(std::move(stop)); });
  running_.emplace_back([this](std::stop_token stop) { jobs_.reflector().run(std::move(stop)); });
  const auto end = connection_.clock().now() + std::chrono::minutes(1);
  while (!pods_.synced() || !jobs_.synced()) {
    if (connection_.clock().now() > end) return false;
    connection_.clock().sleep_for(std::chrono::milliseconds(10), {});
  }
  for (int i = 0; i < workers_; ++i) {
    running_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  return true;
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
  Life* life = nullptr;  // stays where it is; one worker at a time has its key
  {
    const std::lock_guard lock(mutex_);
    life = &lives_[key];
  }
  if (life->stage == Stage::kDone) {
    if (job->metadata.deleting()) remove(*job, stop);
  } else if (life->stage == Stage::kNew) {
    life->job = *job;
    if (take_free_node(*life, key)) begin(*life, stop);
  } else {
    for (const auto& pod : pods_.store().by_index("job", key.to_string())) {
      if (planning::has_ended(*pod)) return finish(*life, *pod, stop);
    }
  }
}

bool Floor::take_free_node(Life& life, const api::ObjectKey& job) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    waiting_.push_back(job);
    return false;
  }
  life.node = std::move(free_.back());
  free_.pop_back();
  return true;
}

void Floor::give_free_node(api::Node node) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(node));
  if (waiting_.empty()) return;
  queue_.add(waiting_.front());
  waiting_.pop_front();
}

void Floor::write_status(api::GpuJob& job, const api::GpuJobStatus& status, const std::stop_token& stop) {
  auto next = status;
  planning::settle_status(next, job.metadata.generation, std::nullopt, connection_.clock().wall());
  job = must(kube::decode<api::GpuJob>(connection_.client().patch(
                 api::GpuJob::kType, job.metadata.key(), kube::PatchType::kMerge,
                 api::status_patch(job.metadata.resource_version, next), "status", stop)),
             "write a status");
}

void Floor::mark(api::Node& node, const api::GpuJob& job, bool taken, const std::stop_token& stop) {
  kube::JsonPatch patch;
  patch.only_if_version(node.metadata.resource_version);
  const auto label = kube::json_pointer({"metadata", "labels", api::kNodeLeaseLabel});
  const auto annotation = kube::json_pointer({"metadata", "annotations", api::kLease});
  if (taken) {
    const auto& id = job.status.lease->id;
    patch.add("/spec/taints", R"([{"key":")" + std::string(api::kLease) + R"(","value":)" + quote(id) +
                                  R"(,"effect":"NoSchedule"}])");
    patch.add(label, quote(id));
    if (node.metadata.annotations.empty()) patch.add("/metadata/annotations", "{}");
    patch.add(annotation, quote(job.metadata.key().to_string()));
  } else {
    patch.remove("/spec/taints/0").remove(label).remove(annotation);
  }
  node = must(kube::decode<api::Node>(connection_.client().patch(
                  api::Node::kType, node.metadata.key(), kube::PatchType::kJson, patch.text(), "", stop)),
              taken ? "take a node" : "free a node");
}

// Finalizer, intent, node, child, running.
void Floor::begin(Life& life, const std::stop_token& stop) {
  auto& job = life.job;
  auto& client = connection_.client();
  job = must(kube::decode<api::GpuJob>(client.patch(api::GpuJob::kType, job.metadata.key(),
                                                    kube::PatchType::kJson, finalizer_on(job), "", stop)),
             "add the finalizer");
  auto status = job.status;
  status.lease_sequence = 1;
  status.lease.emplace();
  status.lease->id = api::LeaseValue{job.metadata.uid, 1}.to_string();
  status.lease->state = api::lease_state::kTaking;
  status.lease->spec_hash = api::spec_hash(job.spec);
  status.lease->nodes = {{life.node.metadata.name, life.node.metadata.uid}};
  status.phase = api::phase::kStarting;
  status.reason = api::reason::kStartingWorkers;
  status.message = "starting workers on " + life.node.metadata.name;
  write_status(job, status, stop);
  mark(life.node, job, true, stop);
  const auto manifests = planning::make_manifests(job, {"gpupool.dev/launcher:dev", gpu_resource_});
  life.child = must(kube::decode<api::BatchJob>(
                        client.create(api::BatchJob::kType, job.metadata.ns, manifests.workload, stop)),
                    "create the Job");
  status = job.status;
  status.lease->state = api::lease_state::kRunning;
  status.phase = api::phase::kRunning;
  status.attempts = 1;
  status.workers = {1, 1, 0};
  write_status(job, status, stop);
  life.stage = Stage::kRunning;
  queue_.add(job.metadata.key());  // its pod may have ended meanwhile
}

// Outcome, worker finalizer, child, node, clear.
void Floor::finish(Life& life, const api::Pod& pod, const std::stop_token& stop) {
  auto& job = life.job;
  auto& client = connection_.client();
  auto status = job.status;
  status.lease->state = api::lease_state::kReleasing;
  status.lease->outcome = api::outcome::kSucceeded;
  status.phase = api::phase::kReleasing;
  write_status(job, status, stop);
  kube::DeleteOptions options;
  options.uid = life.child.metadata.uid;
  must(client.remove(api::BatchJob::kType, life.child.metadata.key(), options, stop).map([] { return true; }),
       "delete the Job");
  must(client.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kJson,
                    finalizer_off(api::kWorkerFinalizer), "", stop),
       "take the worker's finalizer off");
  mark(life.node, job, false, stop);
  give_free_node(std::move(life.node));
  status = job.status;
  status.lease.reset();
  status.phase = api::phase::kSucceeded;
  status.workers = {1, 0, 1};
  write_status(job, status, stop);
  life.stage = Stage::kDone;
  queue_.add(job.metadata.key());
}

void Floor::remove(const api::GpuJob& job, const std::stop_token& stop) {
  if (!job.metadata.has_finalizer(api::kLease)) return;
  const auto done = connection_.client().patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson,
                                               finalizer_off(api::kLease), "", stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound)
    must(base::Result<std::string>(done), "finalizer off");
}

}  // namespace gpupool::bench
