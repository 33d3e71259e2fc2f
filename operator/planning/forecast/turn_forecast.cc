// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/turn_forecast.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "planning/forecast/estimates.h"
#include "planning/queue/turn_plan.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {
namespace {

constexpr auto kTogether = std::chrono::seconds(30);
constexpr int kTogetherPart = 16;

class Simulation {
 public:
  Simulation(const TurnSnapshot& queue, const RunTimes::ByKind& history, base::WallTime now)
      : queue_(queue),
        now_(now),
        estimates_(history, now),
        nodes_(queue.nodes),
        shares_(queue.shares),
        line_(queue.pool->spec.worker_resource(), queue.pool->spec.near),
        first_(queue.first) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].name, i);
    for (const auto& waiter : queue.waiters)
      line_.put(waiter.job, waiter.arrival, waiter.avoided, waiter.turn);
    for (const auto& each : queue.holders) add_holder(each);
  }

  std::map<api::ObjectKey, base::WallTime> run(Budget& budget) {
    auto at = now_;
    while (line_.size() > 0 && budget.spend()) {
      const TurnPlan plan(input(at), line_);
      first_ = plan.first() ? std::optional(plan.first()->job) : std::nullopt;
      for (const auto& key : plan.grants()) start(key, plan.granted().at(key), at);
      if (ends_.empty()) break;
      at = end_some(at);
    }
    return std::move(starts_);
  }

 private:
  struct Hold {
    std::vector<std::string> nodes;
    std::string tenant;
    MilliGpus amount = 0;
  };

  void add_holder(const TurnSnapshot::Holding& each) {
    Hold hold{{}, each.tenant, each.amount};
    const auto bound = latest_end(each.holder, *queue_.pool, now_);
    for (const auto& ref : each.holder.nodes) {
      hold.nodes.push_back(ref.name);
      bounds_[ref.name] = bound;
      ++held_by_[ref.name];
    }
    if (const auto end = estimates_.likely_end(each.holder, Guess::kMedian))
      ends_.emplace(std::max(*end, now_), std::move(hold));
  }

  TurnInput input(base::WallTime at) const {
    std::vector<const PoolNode*> members;
    members.reserve(nodes_.size());
    for (const auto& node : nodes_) members.push_back(&node);
    const auto shares = [this](const std::string& tenant) { return shares_.at(tenant); };
    const auto free_at = [this](const std::string& node) -> std::optional<base::WallTime> {
      const auto known = bounds_.find(node);
      return known == bounds_.end() ? std::nullopt : known->second;
    };
    return {queue_.pool, std::move(members), shares, free_at, at, first_};
  }

  void start(const api::ObjectKey& key, const Verdict& given, base::WallTime at) {
    const auto& entry = *line_.find(key);
    const auto turn = entry.demand().turn;
    Hold hold{{}, turn.tenant, 0};
    std::optional<base::WallTime> bound;
    if (turn.bound_seconds > 0) bound = at + std::chrono::seconds(turn.bound_seconds + turn.ending_seconds);
    for (const auto& ref : given.nodes) {
      auto& node = nodes_[index_.at(ref.name)];
      node.leased = true;
      ++held_by_[ref.name];
      bounds_[ref.name] = bound;
      hold.amount += gpu_amount(*queue_.pool->spec.queue, node.model, node.all_gpus());
      hold.nodes.push_back(ref.name);
    }
    shares_.at(hold.tenant).held += hold.amount;
    if (const auto lasts = estimates_.likely_hold(*entry.job(), Guess::kMedian))
      ends_.emplace(at + std::chrono::duration_cast<base::WallTime::duration>(*lasts), std::move(hold));
    starts_.emplace(key, at);
    line_.remove(key);
  }

  // Returns the time of the last of the ends.
  base::WallTime end_some(base::WallTime at) {
    at = std::max(at, ends_.begin()->first);
    const auto until = at + std::max<base::WallTime::duration>(kTogether, (at - now_) / kTogetherPart);
    while (!ends_.empty() && ends_.begin()->first <= until) {
      at = std::max(at, ends_.begin()->first);
      const auto& hold = ends_.begin()->second;
      for (const auto& name : hold.nodes) {
        if (--held_by_[name] > 0) continue;  // a job that waits for this end has it now
        bounds_.erase(name);
        if (const auto known = index_.find(name); known != index_.end()) nodes_[known->second].leased = false;
      }
      if (const auto share = shares_.find(hold.tenant); share != shares_.end())
        share->second.held -= hold.amount;
      ends_.erase(ends_.begin());
    }
    return at;
  }

  const TurnSnapshot& queue_;
  base::WallTime now_;
  Estimates estimates_;
  std::vector<PoolNode> nodes_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_map<std::string, std::optional<base::WallTime>> bounds_;  // by node
  std::unordered_map<std::string, int> held_by_;                           // by node
  std::map<std::string, TenantBook::Share> shares_;
  WaitingLine line_;
  std::optional<api::ObjectKey> first_;
  std::multimap<base::WallTime, Hold> ends_;
  std::map<api::ObjectKey, base::WallTime> starts_;
};

}  // namespace

std::vector<Expected> forecast_turns(const TurnSnapshot& queue, const RunTimes::ByKind& history,
                                     base::WallTime now, Budget& budget) {
  std::map<api::ObjectKey, base::WallTime> starts;
  if (!queue.pool->spec.sharing && !queue.waiters.empty())
    starts = Simulation(queue, history, now).run(budget);
  std::vector<Expected> found;
  found.reserve(queue.waiters.size());
  for (const auto& waiter : queue.waiters) {
    const auto key = waiter.job->metadata.key();
    std::optional<base::WallTime> likely;  // in whole seconds, as statuses have times
    if (const auto start = starts.find(key); start != starts.end())
      likely = std::chrono::floor<std::chrono::seconds>(start->second);
    found.push_back({key, likely});
  }
  return found;
}

}  // namespace gpupool::planning
