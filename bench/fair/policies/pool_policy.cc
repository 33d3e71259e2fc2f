// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/pool_policy.h"

#include <algorithm>
#include <charconv>
#include <chrono>
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

JobId id_of(const std::string& name) {
  const auto digits = std::string_view(name).substr(sizeof(kJob) - 1);
  JobId id = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), id);
  return id;
}

api::ObjectKey key_of(const Workload& workload, JobId id) {
  return {workload.tenants[workload.jobs[id].tenant].name, kJob + std::to_string(id)};
}

Seconds seconds_of(base::WallTime moment) {
  return std::chrono::duration_cast<std::chrono::seconds>(moment - test::at(0)).count();
}

std::unique_ptr<planning::TenantBook> make_book(const api::GpuPool& pool) {
  if (!pool.spec.queue) return nullptr;
  return std::make_unique<planning::TenantBook>(*pool.spec.queue, api::QueueStatus(), test::at(0));
}

}  // namespace

api::GpuPool make_pool_object() {
  auto pool = test::make_pool();
  pool.metadata.finalizers.emplace_back(api::kPoolFinalizer);
  return pool;
}

api::GpuPool make_queue_pool_object(const Workload& workload, const Settings& settings, bool to_share) {
  auto pool = make_pool_object();
  api::PoolQueueSpec queue;
  if (to_share) queue.yield.emplace().to_share = true;
  queue.half_life_seconds = settings.half_life;
  queue.assumed_seconds = settings.assumed;
  for (const auto& each : workload.tenants) {
    api::QueueTenant tenant;
    tenant.name = each.name;
    tenant.namespaces = {each.name};
    tenant.weight = each.weight;
    tenant.guaranteed = each.guaranteed;
    queue.tenants.push_back(std::move(tenant));
  }
  pool.spec.queue = std::move(queue);
  return pool;
}

PoolPolicy::PoolPolicy(const Workload& workload, api::GpuPool pool)
    : workload_(workload),
      pool_(test::share(std::move(pool))),
      book_(make_book(*pool_)),
      state_(pool_, book_.get()) {
  if (state_.closed()) throw std::logic_error(state_.closed()->message);
  for (std::int64_t i = 0; i < workload.gpus; ++i) {
    auto node = test::make_pool_node("node-" + std::to_string(100000 + i));
    auto object = node.object;
    state_.put_member({std::move(object), std::move(node), false, {}});
  }
}

void PoolPolicy::put_waiting(JobId id, const Job& job) {
  const auto* turns = state_.turns();
  state_.put_waiting(job, id, {}, turns == nullptr ? planning::Turn() : turns->turn_of(*job, 0));
}

void PoolPolicy::arrived(JobId id) { put_waiting(id, make_job_object(workload_, id)); }

void PoolPolicy::hold(const std::vector<api::NodeRef>& nodes, int holders) {
  for (const auto& node : nodes) state_.set_holders(node.name, {.whole = holders, .sharing = 0});
}

void PoolPolicy::ended(JobId id) { ended_.push_back(id); }

// The job takes its nodes.
void PoolPolicy::take(Actions& actions, const Job& job, const planning::Verdict& verdict) {
  const auto key = job->metadata.key();
  const auto id = id_of(job->metadata.name);
  state_.reserve(key, verdict);
  if (verdict.claim) make_room(actions, *verdict.claim);
  hold(verdict.nodes, 1);
  const auto tenant = workload_.jobs[id].tenant;
  actions.start(id);
  if (first_ && first_->id == id) first_.reset();
  if (first_ && actions.cluster().held(tenant) <= workload_.tenants[tenant].guaranteed) first_->passed = true;
  leases_[id] = verdict.nodes;
  if (state_.turns() != nullptr) put_hold(actions.cluster(), id, verdict);
  state_.remove_waiting(key, verdict.nodes);
}

// The jobs stop at once, and wait again.
void PoolPolicy::make_room(Actions& actions, const planning::YieldClaim& claim) {
  for (const auto& uid : claim.awaits) {
    const auto victim = id_of(uid.substr(uid.rfind(kJob)));
    actions.yield(victim);
    hold(leases_.extract(victim).mapped(), 0);
    state_.remove_hold(key_of(workload_, victim));
    arrived(victim);
  }
}

void PoolPolicy::put_hold(const Cluster& cluster, JobId id, const planning::Verdict& verdict) {
  constexpr Seconds kLongestInterval = 3600;
  auto& turns = *state_.turns();
  const auto& job = workload_.jobs[id];
  const auto key = key_of(workload_, id);
  planning::TurnHold held;
  auto& holding = held.holding;
  holding.uid = key.name;
  holding.tenant = key.ns;
  holding.amount = state_.amount_of(verdict.nodes, verdict.slices);
  for (const auto& node : verdict.nodes) holding.nodes.push_back(node.name);
  holding.may_yield = job.preemptible;
  holding.saves = job.checkpoint > 0;
  holding.yields = cluster.state(id).yields;
  holding.running_since = turns.now();
  holding.held_since = turns.now();
  if (holding.saves) held.lost_at_most = std::min(job.checkpoint, kLongestInterval);
  if (const auto until = cluster.until(id); until < kNever) held.until = test::at(until);
  turns.put_hold(key, std::move(held));
}

void PoolPolicy::note_first(Actions& actions, JobId id, const api::JobQueueStatus& turn) {
  const auto latest = turn.latest_start ? seconds_of(*turn.latest_start) : kNever;
  if (!first_ || first_->id != id) {
    first_ = First{id, latest};
    actions.promise(id, latest);
  } else if (latest > first_->latest && first_->passed) {
    actions.promise(id, kNever);
  }
}

// The answer goes into the status of the job, and from there back into the queue.
void PoolPolicy::tell(Actions& actions, const Job& job, const planning::Verdict& verdict) {
  if (!verdict.turn) return;
  const auto id = id_of(job->metadata.name);
  if (verdict.turn->reserved_since) note_first(actions, id, *verdict.turn);
  auto told = *job;
  told.status.reason = verdict.reason;
  told.status.message = verdict.message;
  if (!told.status.progress) told.status.progress.emplace();
  told.status.progress->queue = verdict.turn;
  put_waiting(id, test::share(std::move(told)));
}

void PoolPolicy::decide(Actions& actions) {
  auto* turns = state_.turns();
  if (turns != nullptr) turns->advance(test::at(actions.cluster().now()));
  for (const auto id : ended_) {
    const auto lease = leases_.extract(id);
    hold(lease.mapped(), 0);
    if (turns != nullptr) state_.remove_hold(key_of(workload_, id));
  }
  ended_.clear();
  for (auto notified = state_.take_notifications(); !notified.empty();
       notified = state_.take_notifications()) {
    for (const auto& job : notified) {
      state_.clear_notified(job->metadata.key());
      const auto verdict = state_.verdict(job->metadata.key());
      if (!verdict) continue;
      if (verdict->nodes.empty()) {
        tell(actions, job, *verdict);
      } else {
        take(actions, job, *verdict);
      }
    }
  }
}

// When a job may claim nodes that it may not claim yet.
Seconds PoolPolicy::wakes_at() const {
  const auto* turns = state_.turns();
  const auto* plan = turns == nullptr ? nullptr : turns->plan();
  if (plan == nullptr || !plan->look_again()) return kNever;
  return std::chrono::ceil<std::chrono::seconds>(*plan->look_again() - test::at(0)).count();
}

}  // namespace gpupool::bench::fair
