// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>

namespace gpupool::bench::fair {
namespace {

class Engine final : private Actions {
 public:
  Engine(const Workload& workload, const Settings& settings, Policy& policy)
      : cluster_(workload, settings), policy_(policy), windows_(workload) {}

  Outcome run() {
    while (true) {
      const auto next = std::min({next_arrival(), next_end(), policy_.wakes_at()});
      if (next == kNever) break;
      if (next < cluster_.now()) throw std::logic_error("a policy wakes in the past");
      windows_.advance(cluster_, next);
      cluster_.set_now(next);
      end_jobs();
      bring_jobs();
      decide();
    }
    if (!cluster_.waiting().empty()) {
      throw std::logic_error(std::to_string(cluster_.waiting().size()) + " jobs wait for ever, job " +
                             std::to_string(*cluster_.waiting().begin()) + " first");
    }
    for (JobId id = 0; id < cluster_.workload().jobs.size(); ++id)
      outcome_.jobs.push_back(cluster_.state(id));
    outcome_.windows = windows_.finish();
    return std::move(outcome_);
  }

 private:
  // An end of a job that yielded meanwhile has the number of an earlier start.
  using End = std::tuple<Seconds, JobId, int>;

  const Cluster& cluster() const override { return cluster_; }
  void start(JobId id) override { cluster_.start(id); }
  void yield(JobId id) override { cluster_.yield(id); }
  void promise(JobId id, Seconds latest) override {
    const auto [known, first] = promised_.try_emplace(id, latest);
    if (first && latest < kNever) ++outcome_.promises;
    if (latest == kNever) known->second = kNever;
  }

  Seconds next_arrival() const {
    const auto& jobs = cluster_.workload().jobs;
    return arrived_ < jobs.size() ? jobs[arrived_].arrival : kNever;
  }
  bool is_old(const End& end) const {
    const auto& state = cluster_.state(std::get<1>(end));
    return state.phase != Cluster::Phase::kRunning || state.starts != std::get<2>(end);
  }
  Seconds next_end() {
    while (!ends_.empty() && is_old(ends_.top())) ends_.pop();
    return ends_.empty() ? kNever : std::get<0>(ends_.top());
  }
  void end_jobs() {
    while (next_end() == cluster_.now()) {
      const auto id = std::get<1>(ends_.top());
      ends_.pop();
      cluster_.finish(id);
      policy_.ended(id);
    }
  }
  void bring_jobs() {
    for (; next_arrival() == cluster_.now(); ++arrived_) {
      cluster_.arrive(arrived_);
      policy_.arrived(arrived_);
    }
  }
  void decide() {
    const auto began = std::chrono::steady_clock::now();
    policy_.decide(*this);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    outcome_.pass_ms.push_back(took.count());
    for (const auto id : cluster_.running()) {
      const auto& state = cluster_.state(id);
      if (state.since != cluster_.now()) continue;
      ends_.emplace(std::max(cluster_.end_of(id), cluster_.now()), id, state.starts);
      const auto promised = promised_.find(id);
      if (promised != promised_.end() && state.starts == 1)
        outcome_.broken_promises += promised->second < cluster_.now() ? 1 : 0;
    }
  }

  Cluster cluster_;
  Policy& policy_;
  Windows windows_;
  JobId arrived_ = 0;  // the jobs before it have arrived
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::map<JobId, Seconds> promised_;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const Workload& workload, const Settings& settings, Policy& policy) {
  return Engine(workload, settings, policy).run();
}

}  // namespace gpupool::bench::fair
