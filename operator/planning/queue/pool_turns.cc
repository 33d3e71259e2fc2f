// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/pool_turns.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>

#include "planning/tenants/bound_class.h"

namespace gpupool::planning {
namespace {

// Tenants in a status besides those of spec.queue.
constexpr std::size_t kOthersShown = 400;

// Whether a change of what a job holds may let others claim nodes that cannot by the plan. Not when it begins
// to hold them, as the plan says: others have not taken yet what the same plan gave them.
bool changes_claims(const Holding& before, const Holding& now) {
  return !before.job.name.empty() && now.may_yield &&
         (!before.may_yield || before.yields != now.yields || before.priority != now.priority ||
          before.running_since != now.running_since);
}

}  // namespace

Turn PoolTurns::turn_of(const api::GpuJob& job, std::int64_t ending_seconds) const {
  auto tenant = book_->tenants().of(job.metadata.ns);
  const auto priority = std::min(job.spec.priority, tenant.max_priority.value_or(job.spec.priority));
  const auto bound = bound_class(job);
  return {std::move(tenant.name), priority, bound, bound > 0 ? ending_seconds : 0};
}

std::string PoolTurns::tenant_of(const api::GpuJob& job) const {
  const auto& lease = job.status.lease;
  return lease && lease->turn ? lease->turn->tenant : book_->tenants().of(job.metadata.ns).name;
}

bool PoolTurns::put_hold(const api::ObjectKey& job, TurnHold hold) {
  const auto& holding = hold.holding;
  if (hold.awaiting || hold.granted) {  // what is used begins with the time in the status
    book_->claim(job, holding.tenant, holding.amount, now_);
  } else {
    book_->hold(job, holding.tenant, holding.amount, holding.held_since);
  }
  hold.holding.job = job;
  hold.put_at = now_;
  auto& known = held_[job];
  const bool others_may_claim = changes_claims(known.holding, hold.holding);
  if (others_may_claim) plan_.reset();
  forget_holder(known);
  known = std::move(hold);
  for (const auto& node : known.holding.nodes) holders_[node].push_back(&known);
  return others_may_claim;
}

bool PoolTurns::remove_hold(const api::ObjectKey& job) {
  book_->release(job, now_);
  const auto known = held_.find(job);
  if (known == held_.end()) return false;
  forget_holder(known->second);
  held_.erase(known);
  return true;
}

void PoolTurns::forget_holder(const TurnHold& hold) {
  for (const auto& node : hold.holding.nodes) {
    const auto holders = holders_.find(node);
    if (holders == holders_.end()) continue;
    std::erase(holders->second, &hold);
    if (holders->second.empty()) holders_.erase(holders);
  }
}

// Of a job and those that make room for it, the last one counts.
std::optional<base::WallTime> PoolTurns::free_at(const std::string& node) const {
  const auto holders = holders_.find(node);
  if (holders == holders_.end()) return std::nullopt;
  std::optional<base::WallTime> last;
  for (const auto* hold : holders->second) {
    if (!hold->until) return std::nullopt;
    last = std::max(last, hold->until);
  }
  return last;
}

// Of the holds of a tenant, the oldest are covered by its guarantee, as far as their sum stays within it.
void PoolTurns::cover(std::vector<HoldingNow>& all) {
  struct Guarantee {
    MilliGpus amount;
    std::vector<HoldingNow*> holds;
  };
  std::map<std::string_view, Guarantee> guarantees;
  for (const auto& tenant : book_->tenants().listed()) {
    if (tenant.guaranteed > 0) guarantees.try_emplace(tenant.name, Guarantee{tenant.guaranteed, {}});
  }
  if (guarantees.empty()) return;
  for (auto& each : all) {
    const auto known = guarantees.find(each.holding->tenant);
    if (known != guarantees.end()) known->second.holds.push_back(&each);
  }
  for (auto& [tenant, guarantee] : guarantees) {
    std::ranges::stable_sort(guarantee.holds, {},
                             [](const HoldingNow* each) { return each->holding->held_since; });
    MilliGpus sum = 0;
    for (auto* each : guarantee.holds) {
      sum += each->holding->amount;
      if (sum > guarantee.amount) break;
      each->covered = true;
    }
  }
}

std::vector<HoldingNow> PoolTurns::holders() {
  std::set<std::string_view> yielding;
  for (const auto& [job, hold] : held_) yielding.insert(hold.awaits.begin(), hold.awaits.end());
  std::vector<HoldingNow> all;
  all.reserve(held_.size());
  for (const auto& [job, hold] : held_) {
    const auto& holding = hold.holding;
    const bool may_yield = holding.may_yield && !hold.awaiting && !yielding.contains(holding.uid);
    const auto since = std::chrono::floor<std::chrono::seconds>(now_ - hold.put_at).count();
    const auto lost = std::min(holding.lost_seconds + std::max<std::int64_t>(0, since), hold.lost_at_most);
    all.push_back({&holding, false, may_yield, lost});
  }
  cover(all);
  return all;
}

TurnPlan& PoolTurns::plan(std::vector<const PoolNode*> nodes, const WaitingLine& line) {
  if (!plan_) {
    const auto free_at = [this](const std::string& node) { return this->free_at(node); };
    plan_.emplace(
        TurnInput{pool_, std::move(nodes), shares(), free_at, now_, first_, [this] { return holders(); }},
        line);
    // Until it has taken its nodes, it keeps its place: there may be another plan before.
    if (!first_ || line.find(*first_) == nullptr || !plan_->granted().contains(*first_))
      first_ = plan_->first() ? std::optional(plan_->first()->job) : std::nullopt;
  }
  return *plan_;
}

void PoolTurns::tell_refused(const WaitingLine& line, const std::function<void(const Job&)>& tell) {
  told_.resize(line.group_ids());
  for (const auto& [demand, group] : line.groups()) {
    const auto refusal = plan_->refusal(group);
    const auto verdict = refusal == TurnPlan::Cause::kNever
                             ? plan_->verdict(*line.find(group.jobs.begin()->first.key))
                             : std::nullopt;
    Told now{refusal, verdict ? verdict->message : ""};
    auto& before = told_[group.id];
    if (before == now) continue;
    before = std::move(now);
    if (refusal == TurnPlan::Cause::kNone) continue;
    for (const auto& [position, job] : group.jobs) tell(job);
  }
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
  for (const auto& [demand, group] : line.groups())
    queued[demand.turn.tenant] += static_cast<std::int64_t>(group.jobs.size());
  api::QueueStatus status;
  status.as_of = now_;
  status.tenants = book_->statuses(queued, kOthersShown, now_);
  if (plan_ && plan_->first()) {
    const auto& first = *plan_->first();
    status.holder = api::QueueHolder{first.job.to_string(), first.since, first.workers, first.shown};
  }
  return status;
}

void PoolTurns::take_forecast(const std::vector<Expected>& found, const WaitingLine& line) {
  auto changed = places_.update(found, line, now_);
  replaced_.insert(replaced_.end(), changed.begin(), changed.end());
}

}  // namespace gpupool::planning
