// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/engine/cluster.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gpupool::bench::fair {
namespace {

constexpr int kMostYields = 10000;

// A policy that breaks the rules would make numbers that mean nothing.
void require(bool holds, JobId id, const char* what) {
  if (!holds) throw std::logic_error("job " + std::to_string(id) + " " + what);
}

}  // namespace

Cluster::Cluster(const Workload& workload, const Settings& settings)
    : workload_(workload),
      restart_(settings.restart),
      free_(workload.gpus),
      states_(workload.jobs.size()),
      held_(workload.tenants.size()),
      wanted_(workload.tenants.size()) {}

Seconds Cluster::bound_left(JobId id) const {
  const auto& each = job(id);
  if (each.bound == 0) return kNever;
  return (states_[id].starts > 0 ? restart_ : 0) + each.bound - states_[id].kept;
}

Seconds Cluster::until(JobId id) const {
  const auto& each = job(id);
  return each.bound == 0 ? kNever : works_from(id) + each.bound - states_[id].kept;
}

Seconds Cluster::works_from(JobId id) const {
  return states_[id].since + (states_[id].starts > 1 ? restart_ : 0);
}

Seconds Cluster::end_of(JobId id) const { return works_from(id) + job(id).seconds - states_[id].kept; }

void Cluster::arrive(JobId id) {
  states_[id].phase = Phase::kWaiting;
  states_[id].since = now_;
  waiting_.insert(id);
  wanted_[job(id).tenant] += job(id).gpus;
}

void Cluster::start(JobId id) {
  auto& state = states_[id];
  const auto& each = job(id);
  require(state.phase == Phase::kWaiting, id, "starts and does not wait");
  require(each.gpus <= free_, id, "starts on more GPUs than are free");
  if (state.starts == 0) state.first_wait = now_ - each.arrival;
  ++state.starts;
  state.phase = Phase::kRunning;
  state.since = now_;
  free_ -= each.gpus;
  waiting_.erase(id);
  running_.insert(id);
  held_[each.tenant] += each.gpus;
  wanted_[each.tenant] -= each.gpus;
}

void Cluster::leave(JobId id) {
  auto& state = states_[id];
  const auto& each = job(id);
  require(state.phase == Phase::kRunning, id, "stops and does not run");
  state.held += now_ - state.since;
  free_ += each.gpus;
  running_.erase(id);
  held_[each.tenant] -= each.gpus;
}

void Cluster::yield(JobId id) {
  auto& state = states_[id];
  const auto& each = job(id);
  require(each.preemptible, id, "yields and is not preemptible");
  require(state.yields < kMostYields, id, "yields for ever");
  leave(id);
  const auto worked = std::max<Seconds>(0, now_ - works_from(id));
  if (each.checkpoint > 0) state.kept += worked - worked % each.checkpoint;
  ++state.yields;
  arrive(id);
}

void Cluster::finish(JobId id) {
  leave(id);
  states_[id].phase = Phase::kDone;
  states_[id].end = now_;
}

}  // namespace gpupool::bench::fair
