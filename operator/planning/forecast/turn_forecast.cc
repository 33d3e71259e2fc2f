// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/turn_forecast.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "planning/forecast/estimates.h"
#include "planning/forecast/slice_world.h"
#include "planning/queue/turn_plan.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {
namespace {

constexpr auto kTogether = std::chrono::seconds(30);
constexpr int kTogetherPart = 16;

// The nodes of an exclusive pool.
class WholeNodes {
 public:
  explicit WholeNodes(const TurnSnapshot& queue)
      : pool_(queue.pool), nodes_(queue.nodes), first_(queue.first) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].name, i);
  }

  // bound: when the holder has given all back at the latest.
  void add_holder(const Holder& holder, const std::optional<base::WallTime>& bound) {
    for (const auto& ref : holder.nodes) note(ref.name, bound);
  }
  std::map<api::ObjectKey, Verdict> plan(const WaitingLine& line, const TurnOrder::Shares& shares,
                                         base::WallTime at) {
    std::vector<const PoolNode*> members;
    members.reserve(nodes_.size());
    for (const auto& node : nodes_) members.push_back(&node);
    const auto free_at = [this](const std::string& node) -> std::optional<base::WallTime> {
      const auto known = bounds_.find(node);
      return known == bounds_.end() ? std::nullopt : known->second;
    };
    const TurnPlan plan({pool_, std::move(members), shares, free_at, at, first_}, line);
    first_ = plan.first() ? std::optional(plan.first()->job) : std::nullopt;
    return plan.granted();
  }
  // Returns what the job holds then.
  MilliGpus take(const api::GpuJob& /*job*/, const Verdict& given,
                 const std::optional<base::WallTime>& bound) {
    MilliGpus amount = 0;
    for (const auto& ref : given.nodes) {
      auto& node = nodes_[index_.at(ref.name)];
      node.leased = true;
      note(ref.name, bound);
      amount += gpu_amount(*pool_->spec.queue, node.model, node.all_gpus());
    }
    return amount;
  }
  void give_back(const api::GpuJob& /*job*/, const Verdict& given) {
    for (const auto& ref : given.nodes) {
      if (--held_by_[ref.name] > 0) continue;  // a job that waits for this end has it now
      bounds_.erase(ref.name);
      if (const auto known = index_.find(ref.name); known != index_.end())
        nodes_[known->second].leased = false;
    }
  }

 private:
  void note(const std::string& name, const std::optional<base::WallTime>& bound) {
    bounds_[name] = bound;
    ++held_by_[name];
  }

  std::shared_ptr<const api::GpuPool> pool_;
  std::vector<PoolNode> nodes_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_map<std::string, std::optional<base::WallTime>> bounds_;  // by node
  std::unordered_map<std::string, int> held_by_;                           // by node
  std::optional<api::ObjectKey> first_;
};

// The slices, or single GPUs, of a sharing pool. Without backfill bounds do not matter.
class Slices {
 public:
  explicit Slices(const TurnSnapshot& queue)
      : pool_(*queue.pool), world_(*queue.pool, queue.shared, holders_of(queue)) {}

  void add_holder(const Holder& /*holder*/, const std::optional<base::WallTime>& /*bound*/) {}
  std::map<api::ObjectKey, Verdict> plan(const WaitingLine& line, const TurnOrder::Shares& shares,
                                         base::WallTime at) {
    return world_.plan(line, {shares, [this](const Verdict& verdict) { return amount_of(verdict); }, at});
  }
  MilliGpus take(const api::GpuJob& job, const Verdict& given,
                 const std::optional<base::WallTime>& /*bound*/) {
    world_.take(job, given);
    return amount_of(given);
  }
  void give_back(const api::GpuJob& job, const Verdict& given) { world_.give_back(job, given); }

 private:
  static std::vector<Holder> holders_of(const TurnSnapshot& queue) {
    std::vector<Holder> holders;
    holders.reserve(queue.holders.size());
    for (const auto& each : queue.holders) holders.push_back(each.holder);
    return holders;
  }
  MilliGpus amount_of(const Verdict& verdict) const {
    MilliGpus sum = 0;
    for (const auto& ref : verdict.nodes) {
      if (const auto* node = world_.node(ref.name))
        sum += amount_on(*node, pool_, ref.workers, verdict.slices);
    }
    return sum;
  }

  const api::GpuPool& pool_;
  SliceWorld world_;
};

template <class Room>
class Simulation {
 public:
  Simulation(const TurnSnapshot& queue, const RunTimes::ByKind& history, base::WallTime now)
      : queue_(queue),
        now_(now),
        estimates_(history, now),
        room_(queue),
        shares_(queue.shares),
        line_(queue.pool->spec.worker_resource(), queue.pool->spec.near) {
    for (const auto& waiter : queue.waiters)
      line_.put(waiter.job, waiter.arrival, waiter.avoided, waiter.turn);
    for (const auto& each : queue.holders) add_holder(each);
  }

  std::map<api::ObjectKey, base::WallTime> run(Budget& budget) {
    auto at = now_;
    const auto shares = [this](const std::string& tenant) { return shares_.at(tenant); };
    while (line_.size() > 0 && budget.spend()) {
      for (const auto& [key, verdict] : room_.plan(line_, shares, at)) {
        if (!verdict.nodes.empty()) start(key, verdict, at);
      }
      if (ends_.empty()) break;
      at = end_some(at);
    }
    return std::move(starts_);
  }

 private:
  struct Hold {
    WaitingLine::Job job;
    Verdict given;
    std::string tenant;
    MilliGpus amount = 0;
  };

  void add_holder(const TurnSnapshot::Holding& each) {
    const auto& holder = each.holder;
    room_.add_holder(holder, latest_end(holder, *queue_.pool, now_));
    if (const auto end = estimates_.likely_end(holder, Guess::kMedian))
      ends_.emplace(std::max(*end, now_),
                    Hold{holder.job, {holder.nodes, "", "", holder.slices}, each.tenant, each.amount});
  }

  void start(const api::ObjectKey& key, const Verdict& given, base::WallTime at) {
    const auto& entry = *line_.find(key);
    const auto turn = entry.demand().turn;
    const auto job = entry.job();
    std::optional<base::WallTime> bound;
    if (turn.bound_seconds > 0) bound = at + std::chrono::seconds(turn.bound_seconds + turn.ending_seconds);
    const auto amount = room_.take(*job, given, bound);
    shares_.at(turn.tenant).held += amount;
    if (const auto lasts = estimates_.likely_hold(*job, Guess::kMedian))
      ends_.emplace(at + std::chrono::duration_cast<base::WallTime::duration>(*lasts),
                    Hold{job, given, turn.tenant, amount});
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
      room_.give_back(*hold.job, hold.given);
      if (const auto share = shares_.find(hold.tenant); share != shares_.end())
        share->second.held -= hold.amount;
      ends_.erase(ends_.begin());
    }
    return at;
  }

  const TurnSnapshot& queue_;
  base::WallTime now_;
  Estimates estimates_;
  Room room_;
  std::map<std::string, TenantBook::Share> shares_;
  WaitingLine line_;
  std::multimap<base::WallTime, Hold> ends_;
  std::map<api::ObjectKey, base::WallTime> starts_;
};

}  // namespace

std::vector<Expected> forecast_turns(const TurnSnapshot& queue, const RunTimes::ByKind& history,
                                     base::WallTime now, Budget& budget) {
  std::map<api::ObjectKey, base::WallTime> starts;
  if (!queue.waiters.empty()) {
    starts = queue.pool->spec.sharing ? Simulation<Slices>(queue, history, now).run(budget)
                                      : Simulation<WholeNodes>(queue, history, now).run(budget);
  }
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
