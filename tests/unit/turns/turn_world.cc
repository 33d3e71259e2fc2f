// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/turns/turn_world.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "api/v1alpha1/names.h"
#include "planning/forecast/estimates.h"

namespace gpupool::test {

TurnWorld::TurnWorld(api::PoolQueueSpec queue, std::size_t nodes, std::int64_t gpus) {
  auto pool = make_pool();
  pool.metadata.finalizers = {api::kPoolFinalizer};
  pool.spec.queue = std::move(queue);
  pool_ = share(std::move(pool));
  book_ = std::make_unique<planning::TenantBook>(*pool_->spec.queue, api::QueueStatus(), at(0));
  state_ = std::make_unique<planning::PoolState>(pool_, book_.get());
  state_->advance(at(0));
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto name = "n" + std::to_string(100 + i);
    auto node = share(make_node(name, gpus));
    planning::Member member{node, make_pool_node(*node), false, {}};
    state_->put_member(std::move(member));
  }
}

void TurnWorld::submit(const std::string& name, const Job& job) {
  auto object = make_job(name, job.workers);
  object.metadata.ns = job.ns;
  object.metadata.creation_timestamp = at(now_);
  object.spec.priority = job.priority;
  if (job.deadline > 0) object.spec.active_deadline_seconds = job.deadline;
  arrival_[name] = arrivals_++;
  waiting_[name] = {job, share(std::move(object))};
  tell();
  decide();
}

// The queue gets the jobs as the API server has them now.
void TurnWorld::tell() {
  for (auto& [name, entry] : waiting_) {
    const auto& object = *entry.second;
    const auto longest = planning::longest_hold(object, *pool_);
    const auto ending = longest ? std::chrono::ceil<std::chrono::seconds>(*longest).count() -
                                      *object.spec.active_deadline_seconds
                                : 0;
    state_->put_waiting(entry.second, arrival_[name], {}, state_->turns()->turn_of(object, ending));
  }
}

// Jobs take their nodes in the order in which they got them.
bool TurnWorld::take_one() {
  std::map<api::ObjectKey, std::pair<std::string, planning::Verdict>> given;
  for (auto& [name, entry] : waiting_) {
    const auto key = entry.second->metadata.key();
    const auto verdict = state_->verdict(key);
    if (!verdict) throw std::logic_error("no verdict for " + name);
    if (!verdict->nodes.empty()) {
      given.emplace(key, std::pair(name, *verdict));
      continue;
    }
    auto object = *entry.second;
    object.status.progress.emplace().queue = verdict->turn;
    if (verdict->turn->latest_start) promised_.try_emplace(name, *verdict->turn->latest_start);
    entry.second = share(std::move(object));
  }
  for (const auto& key : state_->turns()->plan() != nullptr ? state_->turns()->plan()->grants()
                                                            : std::vector<api::ObjectKey>()) {
    const auto found = given.find(key);
    if (found == given.end()) continue;
    take(found->second.first, found->second.second);
    return true;
  }
  return false;
}

void TurnWorld::take(std::string name, const planning::Verdict& verdict) {
  const auto entry = waiting_.extract(name).mapped();
  const auto key = entry.second->metadata.key();
  if (verdict.claim) claim(name, verdict);
  state_->reserve(key, verdict);
  auto& held = held_[name];
  held.key = key;
  held.tenant = verdict.turn->tenant;
  held.amount = state_->amount_of(verdict.nodes, 0);
  held.since = now_;
  held.job = entry.first;
  held.uid = entry.second->metadata.uid;
  const auto runs = entry.first.runs;
  held.ends = runs > 0 ? now_ + runs : std::numeric_limits<std::int64_t>::max();
  objects_[name] = entry.second;
  started_[name] = now_;
  for (const auto& [other, holds] : held_) {
    if (!verdict.claim || std::ranges::count(verdict.claim->awaits, holds.uid) == 0) continue;
    held.awaits.insert(other);
  }
  for (const auto& ref : verdict.nodes) {
    for (const auto& [other, holds] : held_) {
      if (other != name && !held.awaits.contains(other) && std::ranges::count(holds.nodes, ref.name) > 0)
        throw std::logic_error(name + " and " + other + " hold " + ref.name);
    }
    held.nodes.push_back(ref.name);
    state_->set_holders(ref.name, {++holders_[ref.name], 0});
  }
  put_hold(name);
  const auto victims = held.awaits;
  for (const auto& victim : victims) {
    held_.at(victim).yields_at = now_ + ending_seconds;
    if (ending_seconds == 0) make_room(victim);
  }
}

void TurnWorld::claim(const std::string& name, const planning::Verdict& verdict) {
  Claim claim{name, objects_.contains(name) ? objects_.at(name)->metadata.ns : "", verdict, {}};
  claim.ns = verdict.turn->tenant;
  for (const auto& [other, holds] : held_) {
    if (std::ranges::count(verdict.claim->awaits, holds.uid) > 0) claim.victims.push_back(other);
  }
  ++claims_;
  on_claim(claim);
}

void TurnWorld::put_hold(const std::string& name) {
  const auto& held = held_.at(name);
  auto leased = *objects_.at(name);
  leased.status.start_time = at(held.since);
  planning::TurnHold hold;
  auto& holding = hold.holding;
  holding.uid = held.uid;
  holding.tenant = held.tenant;
  holding.priority = state_->turns()->turn_of(leased, 0).priority;
  holding.amount = held.amount;
  holding.nodes = held.nodes;
  holding.may_yield = held.awaits.empty() && (held.job.saves || held.job.preemptible);
  holding.saves = held.job.saves;
  holding.yields = yields(name);
  holding.running_since = at(held.since);
  holding.held_since = at(held.since);
  holding.ending_seconds = ending_seconds;
  hold.awaiting = !held.awaits.empty();
  for (const auto& other : held.awaits) hold.awaits.push_back(held_.at(other).uid);
  hold.until = planning::latest_end(leased, *pool_, at(now_));
  state_->put_hold(held.key, std::move(hold));
}

// Gives back the nodes; who waits for it may have them all now.
void TurnWorld::release(const std::string& name) {
  const auto held = held_.extract(name).mapped();
  state_->remove_hold(held.key);
  for (const auto& node : held.nodes) state_->set_holders(node, {--holders_[node], 0});
  for (auto& [other, holds] : held_) {
    if (holds.awaits.erase(name) == 0 || !holds.awaits.empty()) continue;
    holds.since = now_;
    if (holds.job.runs > 0) holds.ends = now_ + holds.job.runs;
    put_hold(other);
  }
}

// The job stops for another, and waits again.
void TurnWorld::make_room(const std::string& name) {
  auto job = held_.at(name).job;
  if (job.saves && job.runs > 0) job.runs -= std::min(job.runs - 1, now_ - held_.at(name).since);
  release(name);
  ++yields_[name];
  promised_.erase(name);
  auto object = *objects_.at(name);
  object.status = {};
  waiting_[name] = {job, share(std::move(object))};
  tell();
}

void TurnWorld::decide() {
  while (take_one()) {
  }
  tell();
}

void TurnWorld::end(const std::string& name) {
  release(name);
  decide();
}

void TurnWorld::leave(const std::string& name) {
  state_->remove_waiting(waiting_.at(name).second->metadata.key(), {});
  waiting_.erase(name);
  decide();
}

// When a job ends or makes room, or the plan has to be made again.
std::optional<std::int64_t> TurnWorld::next_change() const {
  std::optional<std::int64_t> next;
  const auto note = [&](std::int64_t moment) { next = std::min(next.value_or(moment), moment); };
  for (const auto& [name, held] : held_) {
    if (!held.awaits.empty()) continue;
    note(held.ends);
    if (held.yields_at > 0) note(held.yields_at);
  }
  if (const auto again = state_->look_again())
    note(std::chrono::ceil<std::chrono::seconds>(*again - at(0)).count());
  return next;
}

void TurnWorld::advance(std::int64_t seconds) {
  const auto until = now_ + seconds;
  for (auto next = next_change(); next && *next <= until; next = next_change()) {
    now_ = std::max(now_, *next);
    state_->advance(at(now_));
    for (const auto& [name, held] : std::map(held_)) {
      const auto known = held_.find(name);
      if (known == held_.end() || !known->second.awaits.empty()) continue;
      if (known->second.ends <= now_) {
        end(name);
      } else if (known->second.yields_at > 0 && known->second.yields_at <= now_) {
        make_room(name);
      }
    }
    decide();
  }
  now_ = until;
  state_->advance(at(now_));
}

std::vector<std::string> TurnWorld::nodes_of(const std::string& name) const { return held_.at(name).nodes; }

planning::Verdict TurnWorld::verdict(const std::string& name) {
  return *state_->verdict(waiting_.at(name).second->metadata.key());
}

planning::MilliGpus TurnWorld::held(const std::string& tenant) { return book_->share(tenant, at(now_)).held; }

std::optional<base::WallTime> TurnWorld::promised(const std::string& name) const {
  const auto found = promised_.find(name);
  return found == promised_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> TurnWorld::started(const std::string& name) const {
  const auto found = started_.find(name);
  return found == started_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace gpupool::test
