#include "bench/cluster/player.h"

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "planning/assess_workers.h"

namespace gpupool::bench {
namespace {

using base::json::quote;
constexpr char kByLease[] = "lease";
constexpr auto kSoon = std::chrono::milliseconds(10);
constexpr api::ResourceType kBinding{"", "v1", "bindings", "Binding", true};

runtime::ReflectorOptions workers() {
  runtime::ReflectorOptions options;
  options.label_selector = api::kJobUidLabel;
  return options;
}

}  // namespace

Player::Player(Connection& connection, std::optional<base::Duration> run_for, int threads)
    : connection_(connection),
      run_for_(run_for),
      threads_(threads),
      nodes_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
      pods_(connection.client(), workers(), connection.clock(), connection.metrics(), connection.log()),
      queue_(connection.clock(), std::chrono::seconds(1)) {
  nodes_.store().add_index(
      kByLease, [](const api::Node& node) { return std::vector{node.metadata.label(api::kNodeLeaseLabel)}; });
  pods_.on_change([this](const runtime::Change<api::Pod>& change) {
    if (change.after) return queue_.add(change.after->metadata.key());
    const std::lock_guard lock(mutex_);
    began_.erase(change.before->metadata.uid);
  });
}

void Player::start() {
  running_.emplace_back([this](std::stop_token stop) { nodes_.reflector().run(std::move(stop)); });
  running_.emplace_back([this](std::stop_token stop) { pods_.reflector().run(std::move(stop)); });
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
  } else if (pod.status.phase == "Running" && run_for_) {
    finish(pod, stop);
  }
}

void Player::bind(const api::Pod& pod, const std::stop_token& stop) {
  const auto nodes = nodes_.store().by_index(kByLease, pod.metadata.label(api::kLease));
  const auto rank = static_cast<std::size_t>(planning::rank_of(pod));
  if (rank >= nodes.size()) return queue_.add_after(pod.metadata.key(), kSoon);  // the watch is behind
  const auto body = R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":)" + quote(pod.metadata.name) +
                    R"(},"target":{"apiVersion":"v1","kind":"Node","name":)" +
                    quote(nodes[rank]->metadata.name) + "}}";
  const auto bound = connection_.client().create(kBinding, pod.metadata.ns, body, stop);
  if (!bound && bound.error().code != base::ErrorCode::kConflict) queue_.add_after(pod.metadata.key(), kSoon);
}

std::string Player::container(const api::Pod& pod, const std::string& state) const {
  const auto& known = pod.status.container_statuses;
  return R"({"name":)" + quote(known.empty() ? "worker" : known[0].name) +
         R"(,"image":"busybox:1","imageID":"","restartCount":0,"lastState":{},"ready":)" +
         (state.starts_with(R"({"running)") ? "true" : "false") + R"(,"state":)" + state + "}";
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
                       R"(,"podIP":"192.0.2.1","containerStatuses":[)" + container(pod, state) + "]}",
                   stop);
  if (!written || !run_for_) return;
  const std::lock_guard lock(mutex_);
  began_[pod.metadata.uid] = connection_.clock().now();
}

void Player::finish(const api::Pod& pod, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    const auto began = began_.try_emplace(pod.metadata.uid, connection_.clock().now()).first->second;
    const auto left = began + *run_for_ - connection_.clock().now();
    if (left > base::Duration::zero()) return queue_.add_after(pod.metadata.key(), left);
  }
  const auto now = base::to_rfc3339(connection_.clock().wall());
  const auto result =
      R"({"version":1,"attempt":0,"rank":)" + std::to_string(planning::rank_of(pod)) +
      R"(,"outcome":"exited","exitCode":0,"reason":"Completed","message":"exit code 0","tail":"",)" +
      R"("finishedAt":")" + now + R"("})";
  const auto state = R"({"terminated":{"exitCode":0,"reason":"Completed","message":)" + quote(result) +
                     R"(,"startedAt":")" + now + R"(","finishedAt":")" + now + R"("}})";
  write_status(pod, R"({"phase":"Succeeded","containerStatuses":[)" + container(pod, state) + "]}", stop);
}

void Player::end(const api::Pod& pod, const std::stop_token& stop) {
  if (!planning::has_ended(pod)) {
    const auto now = quote(base::to_rfc3339(connection_.clock().wall()));
    const auto state = R"({"terminated":{"exitCode":137,"reason":"Error","finishedAt":)" + now + "}}";
    write_status(pod, R"({"containerStatuses":[)" + container(pod, state) + "]}", stop);
  }
  if (pod.metadata.deletion_grace_period_seconds == 0) return;
  kube::DeleteOptions options;
  options.uid = pod.metadata.uid;
  options.grace_period_seconds = 0;
  const auto done = connection_.client().remove(api::Pod::kType, pod.metadata.key(), options, stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound &&
      done.error().code != base::ErrorCode::kConflict) {
    queue_.add_after(pod.metadata.key(), kSoon);
  }
}

}  // namespace gpupool::bench
