// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/pool_policy.h"

#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::bench::fair {
namespace {

constexpr char kJob[] = "job-";

std::shared_ptr<const api::GpuJob> make_job_object(const Workload& workload, JobId id) {
  const auto& job = workload.jobs[id];
  auto object = test::make_job(kJob + std::to_string(id), job.gpus);
  object.metadata.ns = workload.tenants[job.tenant].name;
  object.metadata.creation_timestamp = test::at(job.arrival);
  if (job.bound > 0) object.spec.active_deadline_seconds = job.bound;
  return test::share(std::move(object));
}

JobId id_of(const api::GpuJob& job) {
  const auto digits = std::string_view(job.metadata.name).substr(sizeof(kJob) - 1);
  JobId id = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), id);
  return id;
}

}  // namespace

api::GpuPool make_pool_object() {
  auto pool = test::make_pool();
  pool.metadata.finalizers.emplace_back(api::kPoolFinalizer);
  return pool;
}

PoolPolicy::PoolPolicy(const Workload& workload, api::GpuPool pool)
    : workload_(workload), state_(test::share(std::move(pool))) {
  if (state_.closed()) throw std::logic_error(state_.closed()->message);
  for (std::int64_t i = 0; i < workload.gpus; ++i) {
    auto node = test::make_pool_node("node-" + std::to_string(100000 + i));
    auto object = node.object;
    state_.put_member({std::move(object), std::move(node), false, {}});
  }
}

void PoolPolicy::arrived(JobId id) { state_.put_waiting(make_job_object(workload_, id), id); }

void PoolPolicy::hold(const std::vector<api::NodeRef>& nodes, int holders) {
  for (const auto& node : nodes) state_.set_holders(node.name, {.whole = holders, .sharing = 0});
}

void PoolPolicy::ended(JobId id) {
  const auto lease = leases_.extract(id);
  hold(lease.mapped(), 0);
}

void PoolPolicy::decide(Actions& actions) {
  for (const auto& job : state_.take_notifications()) {
    const auto key = job->metadata.key();
    const auto verdict = state_.verdict(key);
    if (!verdict || verdict->nodes.empty()) continue;
    state_.reserve(key, *verdict);
    hold(verdict->nodes, 1);
    state_.remove_waiting(key, verdict->nodes);
    const auto id = id_of(*job);
    leases_[id] = verdict->nodes;
    actions.start(id);
  }
}

}  // namespace gpupool::bench::fair
