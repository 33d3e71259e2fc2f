// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/forecast.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planning/forecast/slice_world.h"
#include "planning/queue/queue_plan.h"

namespace gpupool::planning {
namespace {

using Job = WaitingLine::Job;

// The nodes of an exclusive pool during a forecast.
class NodeWorld {
 public:
  explicit NodeWorld(const QueueSnapshot& queue) : pool_(queue.pool), nodes_(queue.nodes) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].name, i);
  }

  std::map<api::ObjectKey, Verdict> plan(const WaitingLine& line) const {
    std::vector<const PoolNode*> members;
    members.reserve(nodes_.size());
    for (const auto& node : nodes_) members.push_back(&node);
    return QueuePlan(pool_, members, line).granted();
  }
  void take(const api::GpuJob& /*job*/, const Verdict& given) { hold(given, true); }
  void give_back(const api::GpuJob& /*job*/, const Verdict& given) { hold(given, false); }

 private:
  void hold(const Verdict& given, bool leased) {
    for (const auto& ref : given.nodes) {
      const auto known = index_.find(ref.name);
      if (known != index_.end()) nodes_[known->second].leased = leased;
    }
  }

  std::shared_ptr<const api::GpuPool> pool_;
  std::vector<PoolNode> nodes_;
  std::unordered_map<std::string, std::size_t> index_;
};

struct Run {
  std::optional<base::WallTime> start;
  bool cut = false;
};

template <class World>
Run run(const QueueSnapshot& queue, Estimates& estimates, Guess guess, base::WallTime now, Budget& budget) {
  World world(queue);
  auto line = queue.line.copy_before(queue.entry().position());
  line.put(queue.entry().job(), queue.entry().position().arrival, queue.entry().demand().avoided);
  std::multimap<base::WallTime, std::pair<Job, Verdict>> ends;
  for (const auto& holder : queue.holders) {
    if (const auto end = estimates.likely_end(holder, guess))
      ends.emplace(std::max(*end, now), std::pair(holder.job, Verdict{holder.nodes, "", "", holder.slices}));
  }
  for (auto at = now;;) {
    if (!budget.spend()) return {std::nullopt, true};
    for (const auto& [key, verdict] : world.plan(line)) {
      if (verdict.nodes.empty()) continue;
      if (key == queue.asker) return {at};
      const auto job = line.find(key)->job();
      if (const auto hold = estimates.likely_hold(*job, guess)) {
        const auto lasts = std::chrono::duration_cast<base::WallTime::duration>(*hold);
        ends.emplace(at + lasts, std::pair(job, verdict));
      }
      world.take(*job, verdict);
      line.remove(key);
    }
    if (ends.empty()) return {};
    at = std::max(at, ends.begin()->first);
    while (!ends.empty() && ends.begin()->first <= at) {
      const auto& [job, verdict] = ends.begin()->second;
      world.give_back(*job, verdict);
      ends.erase(ends.begin());
    }
  }
}

}  // namespace

LikelyStart likely_start(const QueueSnapshot& queue, const RunTimes::ByKind& history, base::WallTime now,
                         Budget& budget) {
  LikelyStart likely;
  Estimates estimates(history, now);
  for (const auto guess : {Guess::kEarly, Guess::kMedian, Guess::kLate}) {
    const auto run_once = queue.pool->spec.sharing ? run<SliceWorld> : run<NodeWorld>;
    const auto found = run_once(queue, estimates, guess, now, budget);
    if (!found.start) {
      LikelyStart unknown;
      unknown.cut = found.cut;
      return unknown;
    }
    likely.from = std::min(likely.from.value_or(*found.start), *found.start);
    likely.to = std::max(likely.to.value_or(*found.start), *found.start);
    if (estimates.samples() == 0) break;  // the other runs would be the same
  }
  likely.samples = estimates.samples();
  likely.used_deadlines = estimates.used_deadlines();
  return likely;
}

}  // namespace gpupool::planning
