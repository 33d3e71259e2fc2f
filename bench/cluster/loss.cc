// SPDX-License-Identifier: Apache-2.0
// Takes nodes from running one-GPU jobs, repeatedly, and measures the time until each job has another node:
// bench_loss --kubeconfig FILE --namespace NS --pool POOL [--jobs N (100)] [--lanes N (4): nodes at a time]
//   [--patience-ms N (0): nodeLossTimeoutSeconds of the pool, which is subtracted].
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/status_json.h"
#include "base/rfc3339.h"
#include "bench/cluster/connection.h"
#include "bench/support/arguments.h"
#include "bench/support/results.h"
#include "runtime/cache/informer.h"

namespace {

using namespace gpupool;
using base::json::quote;
constexpr auto kLimit = std::chrono::seconds(120);
constexpr char kNotReady[] = "node.kubernetes.io/not-ready";

// Observes nodes and jobs, with times.
class Scene {
 public:
  explicit Scene(bench::Connection& connection)
      : connection_(connection),
        jobs_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()),
        nodes_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()) {
    jobs_.on_change([this](const runtime::Change<api::GpuJob>& /*change*/) { tell(); });
    nodes_.on_change([this](const runtime::Change<api::Node>& change) { see(change); });
    threads_ = connection.fill({&jobs_.reflector(), &nodes_.reflector()});
  }
  ~Scene() {
    for (auto& thread : threads_) thread.request_stop();
  }

  template <class Predicate>
  bool wait(const Predicate& so) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLimit, so);
  }

  std::shared_ptr<const api::GpuJob> job(const api::ObjectKey& key) const { return jobs_.store().get(key); }
  std::shared_ptr<const api::Node> node(const std::string& name) const {
    return nodes_.store().get({"", name});
  }
  // REQUIRES: called inside wait(), or when nothing changes any more.
  base::SteadyTime lost_at(const std::string& node) const { return lost_.at(node); }
  const std::map<std::string, base::SteadyTime>& held_by(const api::ObjectKey& job) {
    return held_[job.to_string()];
  }
  bool holds_any(const api::ObjectKey& job) const {
    for (const auto& [name, when] : held_.at(job.to_string())) {
      const auto now = node(name);
      if (now != nullptr && now->metadata.annotation(api::kLease) == job.to_string()) return true;
    }
    return false;
  }

 private:
  void tell() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  void see(const runtime::Change<api::Node>& change) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    if (!change.after) return;
    const auto& name = change.after->metadata.name;
    const auto now = connection_.clock().now();
    if (!change.after->ready() && (!change.before || change.before->ready())) lost_[name] = now;
    const auto holder = change.after->metadata.annotation(api::kLease);
    if (!holder.empty()) held_[holder].emplace(name, now);
  }

  bench::Connection& connection_;
  std::mutex mutex_;  // guards the next two
  std::map<std::string, base::SteadyTime> lost_;
  std::map<std::string, std::map<std::string, base::SteadyTime>> held_;  // by job, then by node
  std::condition_variable changed_;
  runtime::Informer<api::GpuJob> jobs_;
  runtime::Informer<api::Node> nodes_;
  std::vector<std::jthread> threads_;  // declared last, because they use the other members
};

class Taker {
 public:
  Taker(bench::Connection& connection, Scene& scene, const std::string& pool)
      : connection_(connection), scene_(scene), pool_(pool) {}

  // Returns the seconds from the loss of the job's node until it has another one; nothing after an error,
  // which is printed.
  std::optional<double> take(const api::ObjectKey& job) {
    auto& client = connection_.client();
    const auto made = client.create(api::GpuJob::kType, job.ns, manifest(job.name), {});
    if (!made) return fail(job, made.error().message);
    if (!scene_.wait([&] { return runs(job); })) return fail(job, "does not run");
    const auto node = scene_.job(job)->status.lease->nodes[0].name;
    if (!set_ready(node, "False")) return fail(job, "its node's status cannot be written");
    if (!scene_.wait([&] { return scene_.held_by(job).size() > 1; })) return fail(job, "is not moved");
    const auto seconds = waited(job, node);
    if (!set_ready(node, "True")) return fail(job, "its node's status cannot be written");
    if (!scene_.wait([&] { return untouched(node); })) return fail(job, "its node stays tainted");
    const auto gone = client.remove(api::GpuJob::kType, job, {}, {});
    if (!gone) return fail(job, gone.error().message);
    const bool free = scene_.wait([&] { return !scene_.job(job) && !scene_.holds_any(job); });
    if (!free) return fail(job, "does not give its nodes back");
    return seconds;
  }

 private:
  std::optional<double> fail(const api::ObjectKey& key, const std::string& why) {
    std::fprintf(stderr, "bench_loss: %s: %s\n", key.to_string().c_str(), why.c_str());
    if (const auto job = scene_.job(key))
      std::fprintf(stderr, "%s\n", api::status_update(job->metadata, job->status).c_str());
    for (const auto& [name, when] : scene_.held_by(key)) {
      const auto node = scene_.node(name);
      if (node == nullptr) continue;
      std::fprintf(stderr, "%s: ready %d, held by %s, taints", name.c_str(), static_cast<int>(node->ready()),
                   node->metadata.annotation(api::kLease).c_str());
      for (const auto& taint : node->spec.taints)
        std::fprintf(stderr, " %s=%s:%s", taint.key.c_str(), taint.value.c_str(), taint.effect.c_str());
      std::fprintf(stderr, "\n");
    }
    return std::nullopt;
  }
  bool runs(const api::ObjectKey& key) {
    const auto job = scene_.job(key);
    return job && job->status.phase == api::phase::kRunning && job->status.lease &&
           !scene_.held_by(key).empty();
  }
  bool untouched(const std::string& name) const {
    const auto node = scene_.node(name);
    if (!node || !node->ready()) return false;
    for (const auto& taint : node->spec.taints) {
      if (taint.key == kNotReady) return false;
    }
    return true;
  }
  double waited(const api::ObjectKey& job, const std::string& lost) {
    for (const auto& [node, when] : scene_.held_by(job)) {
      if (node != lost) return std::chrono::duration<double>(when - scene_.lost_at(lost)).count();
    }
    return 0;
  }
  bool set_ready(const std::string& node, const std::string& ready) {
    const auto now = quote(base::to_rfc3339(connection_.clock().wall()));
    const auto body = R"({"status":{"conditions":[{"type":"Ready","status":")" + ready +
                      R"(","reason":"Bench","message":"","lastHeartbeatTime":)" + now +
                      R"(,"lastTransitionTime":)" + now + "}]}}";
    const auto type = kube::PatchType::kMerge;
    return connection_.client().patch(api::Node::kType, {"", node}, type, body, "status", {}).has_value();
  }
  std::string manifest(const std::string& name) const {
    return R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":")" + name +
           R"("},"spec":{"pool":")" + pool_ +
           R"(","template":{"metadata":{"annotations":{"bench/run-ms":"3600000"}},"spec":{)" +
           R"("terminationGracePeriodSeconds":1,"containers":[{"name":"worker","image":"busybox:1",)" +
           R"("command":["sh","-c","true"]}]}}}})";
  }

  bench::Connection& connection_;
  Scene& scene_;
  const std::string pool_;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  bench::Connection connection(arguments.text("kubeconfig"), "bench-loss");
  Scene scene(connection);
  Taker taker(connection, scene, arguments.text("pool"));
  const auto patience = static_cast<double>(arguments.number("patience-ms", 0));
  const auto jobs = arguments.number("jobs", 100);
  std::atomic<long> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  bench::Sample sample;
  std::vector<std::jthread> lanes;
  for (long lane = 0; lane < arguments.number("lanes", 4); ++lane) {
    lanes.emplace_back([&] {
      for (auto i = next++; i < jobs && !failed; i = next++) {
        const auto seconds = taker.take({arguments.text("namespace"), "loss-" + std::to_string(i)});
        if (!seconds) failed = true;
        const std::lock_guard lock(mutex);
        if (seconds) sample.push_back(*seconds * 1e3 - patience);
      }
    });
  }
  lanes.clear();
  if (failed) return 1;
  bench::Results results("loss");
  results.sample("node not ready to lease moved", sample, "ms");
  results.print();
}
