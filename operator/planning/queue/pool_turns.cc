// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/pool_turns.h"

#include <algorithm>

#include "planning/tenants/bound_class.h"

namespace gpupool::planning {
namespace {

// Tenants in a status besides those of spec.queue.
constexpr std::size_t kOthersShown = 400;

}  // namespace

Turn PoolTurns::turn_of(const api::GpuJob& job, std::int64_t ending_seconds) const {
  auto tenant = book_->tenants().of(job.metadata.ns);
  const auto priority = std::min(job.spec.priority, tenant.max_priority.value_or(job.spec.priority));
  const auto bound = bound_class(job);
  return {std::move(tenant.name), priority, bound, bound > 0 ? ending_seconds : 0};
}

void PoolTurns::put_hold(const api::ObjectKey& job, TurnHold hold) {
  book_->hold(job, hold.tenant, hold.amount, hold.since);
  auto& nodes = held_[job];
  for (const auto& node : nodes) until_.erase(node);
  nodes = std::move(hold.nodes);
  for (const auto& node : nodes) until_[node] = hold.until;
}

void PoolTurns::remove_hold(const api::ObjectKey& job) {
  book_->release(job, now_);
  const auto known = held_.find(job);
  if (known == held_.end()) return;
  for (const auto& node : known->second) until_.erase(node);
  held_.erase(known);
}

TurnPlan& PoolTurns::plan(std::vector<const PoolNode*> nodes, const WaitingLine& line) {
  if (!plan_) {
    const auto free_at = [this](const std::string& node) -> std::optional<base::WallTime> {
      const auto known = until_.find(node);
      return known == until_.end() ? std::nullopt : known->second;
    };
    const auto shares = [this](const std::string& tenant) { return book_->share(tenant, now_); };
    plan_.emplace(TurnInput{pool_, std::move(nodes), shares, free_at, now_, first_}, line);
    first_ = plan_->first() ? std::optional(plan_->first()->job) : std::nullopt;
  }
  return *plan_;
}

void PoolTurns::tell_refused(const WaitingLine& line, const std::function<void(const Job&)>& tell) {
  std::unordered_map<const Demand*, Told> told;
  for (const auto& [demand, jobs] : line.groups()) {
    const auto refusal = plan_->refused().find(&demand);
    if (refusal == plan_->refused().end()) continue;
    const auto verdict = refusal->second == TurnPlan::Cause::kNever
                             ? plan_->verdict(*line.find(jobs.begin()->first.key))
                             : std::nullopt;
    Told now{refusal->second, verdict ? verdict->message : ""};
    const auto before = told_.find(&demand);
    if (before == told_.end() || before->second != now) {
      for (const auto& [position, job] : jobs) tell(job);
    }
    told.emplace(&demand, std::move(now));
  }
  told_ = std::move(told);
  if (told_first_ == plan_->first()) return;
  const auto tell_first = [&](const std::optional<TurnPlan::First>& first) {
    const auto* entry = first ? line.find(first->job) : nullptr;
    if (entry != nullptr) tell(entry->job());
  };
  tell_first(told_first_);
  tell_first(plan_->first());
  told_first_ = plan_->first();
}

api::QueueStatus PoolTurns::status(const WaitingLine& line) {
  std::map<std::string, std::int64_t> queued;
  for (const auto& [demand, jobs] : line.groups())
    queued[demand.turn.tenant] += static_cast<std::int64_t>(jobs.size());
  api::QueueStatus status;
  status.as_of = now_;
  status.tenants = book_->statuses(queued, kOthersShown, now_);
  if (plan_ && plan_->first()) {
    const auto& first = *plan_->first();
    status.holder = api::QueueHolder{first.job.to_string(), first.since, first.workers, first.shown};
  }
  return status;
}

}  // namespace gpupool::planning
