// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/stopwatch.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "planning/workers/pod_end.h"

namespace gpupool::bench {
namespace {

runtime::ReflectorOptions in(const std::string& ns) {
  runtime::ReflectorOptions options;
  options.ns = ns;
  return options;
}

// Returns the name of the job that holds the node, without its namespace.
std::string holder(const std::shared_ptr<const api::Node>& node, const std::string& ns) {
  const auto job = node == nullptr ? "" : node->metadata.annotation(api::kLease);
  return job.starts_with(ns + "/") ? job.substr(ns.size() + 1) : "";
}

}  // namespace

Stopwatch::Stopwatch(Connection& connection, const std::string& ns)
    : connection_(connection),
      ns_(ns),
      jobs_(connection.client(), in(ns), connection.clock(), connection.metrics(), connection.log()),
      children_(connection.client(), in(ns), connection.clock(), connection.metrics(), connection.log()),
      pods_(connection.client(), in(ns), connection.clock(), connection.metrics(), connection.log()),
      nodes_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()) {
  jobs_.on_change([this](const runtime::Change<api::GpuJob>& change) {
    if (!change.after) return note(change.before->metadata.name, kGone);
    const auto& name = change.after->metadata.name;
    if (!change.after->status.phase.empty()) note(name, kAnswered);
    if (change.after->finished()) note(name, kDone);
    if (change.after->status.phase == api::phase::kFailed) {
      const std::lock_guard lock(mutex_);
      failed_ = true;
      changed_.notify_all();
    }
  });
  children_.on_change([this](const runtime::Change<api::BatchJob>& change) {
    if (change.after) note(change.after->metadata.label(api::kJobNameLabel), kChild);
  });
  pods_.on_change([this](const runtime::Change<api::Pod>& change) {
    if (!change.after) return;
    const auto job = change.after->metadata.label(api::kJobNameLabel);
    if (change.after->status.phase == "Running") note(job, kRunning);
    if (planning::has_ended(*change.after)) note(job, kEnded);
  });
  nodes_.on_change([this](const runtime::Change<api::Node>& change) { on_node(change); });
}

void Stopwatch::on_node(const runtime::Change<api::Node>& change) {
  const auto before = holder(change.before, ns_);
  if (!before.empty() && holder(change.after, ns_) != before) note(before, kFree);
}

Stopwatch::~Stopwatch() {
  for (auto& thread : running_) thread.request_stop();
}

void Stopwatch::start(bool only_jobs) {
  std::vector<runtime::Reflector*> caches{&jobs_.reflector()};
  if (!only_jobs)
    caches.insert(caches.end(), {&children_.reflector(), &pods_.reflector(), &nodes_.reflector()});
  running_ = connection_.fill(caches);
}

void Stopwatch::note(const std::string& job, Stage stage) {
  const std::lock_guard lock(mutex_);
  times_[stage].emplace(job, connection_.clock().now());
  changed_.notify_all();
}

bool Stopwatch::wait_for(Stage stage, std::size_t jobs, std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return failed_ || times_[stage].size() >= jobs; });
  return !failed_ && times_[stage].size() >= jobs;
}

Sample Stopwatch::between(Stage from, Stage to) {
  const std::lock_guard lock(mutex_);
  Sample sample;
  for (const auto& [job, time] : times_[to]) {
    const auto found = times_[from].find(job);
    if (found != times_[from].end())
      sample.push_back(std::chrono::duration<double>(time - found->second).count());
  }
  return sample;
}

double Stopwatch::span(Stage from, Stage to) {
  const std::lock_guard lock(mutex_);
  const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto first = std::min_element(times_[from].begin(), times_[from].end(), earlier);
  const auto last = std::max_element(times_[to].begin(), times_[to].end(), earlier);
  if (first == times_[from].end() || last == times_[to].end()) return 0;
  return std::chrono::duration<double>(last->second - first->second).count();
}

}  // namespace gpupool::bench
