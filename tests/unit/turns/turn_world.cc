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
  state_->turns()->advance(at(0));
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

bool TurnWorld::take_one() {
  for (auto& [name, entry] : waiting_) {
    const auto key = entry.second->metadata.key();
    const auto verdict = state_->verdict(key);
    if (!verdict) throw std::logic_error("no verdict for " + name);
    if (verdict->nodes.empty()) {
      auto object = *entry.second;
      object.status.progress.emplace().queue = verdict->turn;
      if (verdict->turn->latest_start) promised_.try_emplace(name, *verdict->turn->latest_start);
      entry.second = share(std::move(object));
      continue;
    }
    state_->reserve(key, *verdict);
    auto& held = held_[name];
    held.key = key;
    for (const auto& ref : verdict->nodes) {
      for (const auto& [other, holds] : held_) {
        if (other != name && std::ranges::count(holds.nodes, ref.name) > 0)
          throw std::logic_error(name + " and " + other + " hold " + ref.name);
      }
      held.nodes.push_back(ref.name);
      state_->set_holders(ref.name, {1, 0});
    }
    const auto runs = entry.first.runs;
    held.ends = runs > 0 ? now_ + runs : std::numeric_limits<std::int64_t>::max();
    auto leased = *entry.second;
    leased.status.start_time = at(now_);
    state_->turns()->put_hold(key, {verdict->turn->tenant, state_->amount_of(verdict->nodes, 0), held.nodes,
                                    at(now_), planning::latest_end(leased, *pool_, at(now_))});
    started_[name] = now_;
    waiting_.erase(name);
    return true;
  }
  return false;
}

void TurnWorld::decide() {
  while (take_one()) {
  }
  tell();
}

void TurnWorld::end(const std::string& name) {
  const auto held = held_.at(name);
  held_.erase(name);
  state_->turns()->remove_hold(held.key);
  for (const auto& node : held.nodes) state_->set_holders(node, {});
  decide();
}

void TurnWorld::leave(const std::string& name) {
  state_->remove_waiting(waiting_.at(name).second->metadata.key(), {});
  waiting_.erase(name);
  decide();
}

void TurnWorld::advance(std::int64_t seconds) {
  const auto until = now_ + seconds;
  while (true) {
    const auto next = std::ranges::min_element(held_, {}, [](const auto& each) { return each.second.ends; });
    const bool ends = next != held_.end() && next->second.ends <= until;
    now_ = ends ? next->second.ends : until;
    state_->turns()->advance(at(now_));
    if (!ends) return;
    end(std::string(next->first));
  }
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
