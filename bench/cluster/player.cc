// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/player.h"

#include <cstdlib>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/pod_end.h"

namespace gpupool::bench {
namespace {

using base::json::quote;
constexpr char kByLease[] = "lease";
constexpr char kByUid[] = "uid";
constexpr char kRunMs[] = "bench/run-ms";
constexpr auto kSoon = std::chrono::milliseconds(10);
constexpr auto kAskAgain = std::chrono::seconds(1);
constexpr api::ResourceType kBinding{"", "v1", "bindings", "Binding", true};

runtime::ReflectorOptions workers() {
  runtime::ReflectorOptions options;
  options.label_selector = api::kJobUidLabel;
  return options;
}

bool is_of_gang(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  return !owners.empty() && owners[0].kind == "StatefulSet";
}

std::string container(int restarts, const std::string& state, const std::string& last = "{}") {
  return R"([{"name":"worker","image":"busybox:1","imageID":"","restartCount":)" + std::to_string(restarts) +
         R"(,"ready":)" + (state.starts_with(R"({"running)") ? "true" : "false") + R"(,"state":)" + state +
         R"(,"lastState":)" + last + "}]";
}

std::string succeeded(const api::Pod& pod, const std::string& now) {
  const auto result = R"({"version":1,"attempt":0,"rank":)" + std::to_string(planning::rank_of(pod)) +
                      R"(,"outcome":"exited","exitCode":0,"reason":"Completed","message":"exit code 0",)" +
                      R"("tail":"","finishedAt":")" + now + R"("})";
  return R"({"terminated":{"exitCode":0,"reason":"Completed","message":)" + quote(result) +
         R"(,"startedAt":")" + now + R"(","finishedAt":")" + now + R"("}})";
}

}  // namespace

Player::Player(Connection& connection, std::optional<base::Duration> run_for, int threads, bool shared)
    : connection_(connection),
      run_for_(run_for),
      threads_(threads),
      shared_(shared),
      nodes_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
      pods_(connection.client(), workers(), connection.clock(), connection.metrics(), connection.log()),
      jobs_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
      queue_(connection.clock(), std::chrono::seconds(1)) {
  jobs_.store().add_index(kByUid, [](const api::GpuJob& job) { return std::vector{job.metadata.uid}; });
  nodes_.store().add_index(
      kByLease, [](const api::Node& node) { return std::vector{node.metadata.label(api::kNodeLeaseLabel)}; });
  pods_.on_change([this](const runtime::Change<api::Pod>& change) {
    if (change.after) return queue_.add(change.after->metadata.key());
    const std::lock_guard lock(mutex_);
    began_.erase(change.before->metadata.uid);
    ended_.erase(change.before->metadata.uid);
  });
}

void Player::start() {
  std::vector<runtime::Reflector*> caches{&nodes_.reflector(), &pods_.reflector()};
  if (shared_) caches.push_back(&jobs_.reflector());
  running_ = connection_.fill(caches);
  for (int i = 0; i < threads_; ++i) {
    running_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Player::~Player() {
  for (auto& thread : running_) thread.request_stop();
}

void Player::work(const std::stop_token& stop) {
  while (const auto key = queue_.get(stop)) {
    if (const auto pod = pods_.store().get(*key)) step(*pod, stop);
    queue_.done(*key);
  }
}

void Player::step(const api::Pod& pod, const std::stop_token& stop) {
  if (pod.spec.node_name.empty()) {
    if (!pod.metadata.deleting()) bind(pod, stop);
  } else if (pod.metadata.deleting()) {
    end(pod, stop);
  } else if (pod.status.phase == "Pending") {
    run(pod, stop);
  } else if (pod.status.phase == "Running" && time_of(pod) && !planning::has_result(pod)) {
    finish(pod, stop);
  }
}

std::optional<base::Duration> Player::time_of(const api::Pod& pod) const {
  const auto said = pod.metadata.annotation(kRunMs);
  return said.empty() ? run_for_ : std::chrono::milliseconds(std::atoi(said.c_str()));
}

// Returns an empty text while the watch is behind.
std::string Player::node_for(const api::Pod& pod) {
  const auto lease = pod.metadata.label(api::kLease);
  const auto rank = static_cast<std::size_t>(planning::rank_of(pod));
  if (lease.empty()) {  // of a plain Job
    const auto all = nodes_.store().list();
    return all.empty() ? "" : all[next_++ % all.size()]->metadata.name;
  }
  if (!shared_) {
    const auto nodes = nodes_.store().by_index(kByLease, lease);
    return rank < nodes.size() ? nodes[rank]->metadata.name : "";
  }
  const auto jobs = jobs_.store().by_index(kByUid, pod.metadata.label(api::kJobUidLabel));
  if (jobs.empty() || !jobs[0]->status.lease || jobs[0]->status.lease->id != lease) return "";
  const auto& nodes = jobs[0]->status.lease->nodes;
  return nodes.empty() ? "" : nodes[rank % nodes.size()].name;
}

void Player::bind(const api::Pod& pod, const std::stop_token& stop) {
  const auto node = node_for(pod);
  if (node.empty()) return queue_.add_after(pod.metadata.key(), kSoon);
  const auto body = R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":)" + quote(pod.metadata.name) +
                    R"(},"target":{"apiVersion":"v1","kind":"Node","name":)" + quote(node) + "}}";
  const auto bound = connection_.client().create(kBinding, pod.metadata.ns, body, stop);
  if (!bound && bound.error().code != base::ErrorCode::kConflict) queue_.add_after(pod.metadata.key(), kSoon);
}

bool Player::write_status(const api::Pod& pod, const std::string& status, const std::stop_token& stop) {
  const auto body = R"({"metadata":{"uid":)" + quote(pod.metadata.uid) + R"(},"status":)" + status + "}";
  const auto done = connection_.client().patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kMerge,
                                               body, "status", stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound) queue_.add_after(pod.metadata.key(), kSoon);
  return done.has_value();
}

void Player::run(const api::Pod& pod, const std::stop_token& stop) {
  const auto now = quote(base::to_rfc3339(connection_.clock().wall()));
  const auto state = R"({"running":{"startedAt":)" + now + "}}";
  const auto written =
      write_status(pod,
                   R"({"phase":"Running","startTime":)" + now +
                       R"(,"podIP":"192.0.2.1","containerStatuses":)" + container(0, state) + "}",
                   stop);
  if (!written || !time_of(pod)) return;
  const std::lock_guard lock(mutex_);
  began_[pod.metadata.uid] = connection_.clock().now();
}

void Player::finish(const api::Pod& pod, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    const auto began = began_.try_emplace(pod.metadata.uid, connection_.clock().now()).first->second;
    const auto left = began + *time_of(pod) - connection_.clock().now();
    if (left > base::Duration::zero()) return queue_.add_after(pod.metadata.key(), left);
  }
  const auto now = base::to_rfc3339(connection_.clock().wall());
  if (!is_of_gang(pod)) {
    const auto ended = container(0, succeeded(pod, now));
    write_status(pod, R"({"phase":"Succeeded","containerStatuses":)" + ended + "}", stop);
    return;
  }
  const auto again = container(1, R"({"running":{"startedAt":)" + quote(now) + "}}", succeeded(pod, now));
  write_status(pod, R"({"containerStatuses":)" + again + "}", stop);
}

void Player::end(const api::Pod& pod, const std::stop_token& stop) {
  if (pod.metadata.deletion_grace_period_seconds == 0 && !pod.metadata.finalizers.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    const auto now = connection_.clock().now();
    const auto [asked, first] = ended_.try_emplace(pod.metadata.uid, now);
    if (!first && now - asked->second < kAskAgain) return;  // the watch is behind
    asked->second = now;
  }
  // Repeated until the pod is gone, as kubelets do: a server that removes a finalizer at the same moment may
  // keep the pod.
  queue_.add_after(pod.metadata.key(), kAskAgain);
  if (!planning::has_ended(pod)) {  // also a pod that is not shown to run: it may have begun since
    const auto now = quote(base::to_rfc3339(connection_.clock().wall()));
    const auto state = R"({"terminated":{"exitCode":137,"reason":"Error","finishedAt":)" + now + "}}";
    // Without it nobody would know of the end once the pod is deleted. It is tried again.
    if (!write_status(pod, R"({"containerStatuses":)" + container(1, state) + "}", stop)) {
      const std::lock_guard lock(mutex_);
      ended_.erase(pod.metadata.uid);
      return;
    }
  }
  kube::DeleteOptions options;
  options.uid = pod.metadata.uid;
  options.grace_period_seconds = 0;
  const auto done = connection_.client().remove(api::Pod::kType, pod.metadata.key(), options, stop);
  if (done || done.error().code == base::ErrorCode::kNotFound ||
      done.error().code == base::ErrorCode::kConflict) {
    return;
  }
  const std::lock_guard lock(mutex_);
  ended_.erase(pod.metadata.uid);
  queue_.add_after(pod.metadata.key(), kSoon);
}

}  // namespace gpupool::bench
