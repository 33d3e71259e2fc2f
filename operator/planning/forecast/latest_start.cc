// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/latest_start.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planning/forecast/estimates.h"
#include "planning/forecast/latest_room.h"
#include "planning/forecast/slice_world.h"

namespace gpupool::planning {
namespace {

constexpr auto kNeverEnds = base::WallTime::max();

// Jobs of one kind need the same. Demand does not contain the slice.
using JobKind = std::tuple<const Demand*, std::string, std::int64_t, std::int64_t>;

JobKind kind_of(const WaitingLine::Entry& entry) {
  const auto& slice = entry.job()->spec.slice;
  if (!slice) return {&entry.demand(), "", 0, 0};
  return {&entry.demand(), slice->memory, slice->cores.value_or(0), slice->count.value_or(0)};
}

class Bound {
 public:
  Bound(const QueueSnapshot& queue, base::WallTime now, Budget& budget)
      : queue_(queue), now_(now), budget_(budget), at_(now) {
    const auto nodes = node_names();
    left_at_.assign(nodes.size(), now_);
    std::vector<bool> held(nodes.size(), false);
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i], i);
    if (queue_.pool->spec.sharing) drained_ = drained_nodes(queue_);
    for (const auto& holder : queue_.holders) {
      const auto end = latest_end(holder, *queue_.pool, now_);
      for (const auto& ref : holder.nodes) {
        const auto known = index.find(ref.name);
        if (known == index.end()) continue;
        held[known->second] = true;
        left_at_[known->second] = std::max(left_at_[known->second], end.value_or(kNeverEnds));
      }
    }
    for (std::size_t i = 0; i < queue_.nodes.size(); ++i) {
      if (queue_.nodes[i].leased && !held[i]) left_at_[i] = kNeverEnds;  // by what is unknown
    }
    for (const auto time : left_at_) add_event(time);
  }

  LatestStart find() {
    LatestStart result;
    const auto entries = relevant();
    result.without_deadline = count_without_deadline(entries);
    for (const auto* entry : entries) {
      const auto& room = *rooms_.at(kind_of(*entry));
      const bool last = entry->position().key == queue_.asker;
      if (!room.ever()) {
        if (last) return result;
        continue;
      }
      while (!fits(room)) {
        const auto next = events_.upper_bound(at_);
        if (next == events_.end()) return result;
        at_ = *next;
        if (!budget_.spend()) return cut(result);
      }
      if (last) {
        result.at = at_;
        return result;
      }
      if (!budget_.spend()) return cut(result);
      start(*entry, room);
    }
    return result;
  }

 private:
  // A job that was started by this bound; where it is placed is not known.
  struct Started {
    base::WallTime end;
    const LatestRoom* room;
  };

  static LatestStart cut(LatestStart result) {
    result.cut = true;
    return result;
  }

  std::vector<std::string> node_names() const {
    std::vector<std::string> names;
    names.reserve(queue_.nodes.size() + queue_.shared.size());
    for (const auto& node : queue_.nodes) names.push_back(node.name);
    for (const auto& node : queue_.shared) names.push_back(node.node.name);
    return names;
  }

  void add_event(base::WallTime time) {
    if (time != kNeverEnds) events_.insert(time);
  }

  // Those that may have an effect on the asker, in queue order: they may reserve its nodes, or those of a job
  // that has an effect on it.
  std::vector<const WaitingLine::Entry*> relevant() {
    std::vector<const WaitingLine::Entry*> all;
    for (const auto& job : queue_.line.in_order()) {
      const auto* entry = queue_.line.find(job->metadata.key());
      all.push_back(entry);
      auto& room = rooms_[kind_of(*entry)];
      if (room == nullptr) room = std::make_unique<LatestRoom>(queue_, *entry, drained_);
    }
    std::set<const LatestRoom*> concerns = {rooms_.at(kind_of(queue_.entry())).get()};
    for (bool grown = true; grown;) {
      grown = false;
      for (const auto& [kind, room] : rooms_) {
        if (concerns.contains(room.get())) continue;
        if (std::ranges::none_of(concerns, [&](const auto* other) { return room->delays(*other); })) continue;
        concerns.insert(room.get());
        grown = true;
      }
    }
    std::erase_if(all,
                  [&](const auto* entry) { return !concerns.contains(rooms_.at(kind_of(*entry)).get()); });
    return all;
  }

  // Those before the asker, and holders.
  std::int64_t count_without_deadline(const std::vector<const WaitingLine::Entry*>& entries) const {
    auto count = std::ranges::count_if(entries, [&](const auto* entry) {
      return !entry->job()->spec.active_deadline_seconds && entry->position().key != queue_.asker;
    });
    count += std::ranges::count_if(
        queue_.holders, [&](const Holder& holder) { return !latest_end(holder, *queue_.pool, now_); });
    return count;
  }

  bool fits(const LatestRoom& room) {
    std::size_t others = 0;
    for (const auto& each : started_) {
      if (each.end > at_ && meet(*each.room, room)) others += each.room->most_nodes();
    }
    std::vector<bool> left(left_at_.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = left_at_[i] <= at_;
    return room.fits(left, others);
  }

  bool meet(const LatestRoom& a, const LatestRoom& b) {
    const auto [known, unknown] = meet_.try_emplace({&a, &b}, false);
    if (unknown) known->second = a.meets(b);
    return known->second;
  }

  void start(const WaitingLine::Entry& entry, const LatestRoom& room) {
    std::erase_if(started_, [&](const Started& each) { return each.end <= at_; });
    const auto hold = longest_hold(*entry.job(), *queue_.pool);
    const auto end = hold ? at_ + std::chrono::duration_cast<base::WallTime::duration>(*hold) : kNeverEnds;
    add_event(end);
    started_.push_back({end, &room});
  }

  const QueueSnapshot& queue_;
  base::WallTime now_;
  Budget& budget_;
  base::WallTime at_;
  std::vector<SharedNode> drained_;
  std::vector<base::WallTime> left_at_;  // by node: when its holders have left it
  std::set<base::WallTime> events_;
  std::map<JobKind, std::unique_ptr<LatestRoom>> rooms_;
  std::map<std::pair<const LatestRoom*, const LatestRoom*>, bool> meet_;
  std::vector<Started> started_;
};

}  // namespace

LatestStart latest_start(const QueueSnapshot& queue, base::WallTime now, Budget& budget) {
  return Bound(queue, now, budget).find();
}

}  // namespace gpupool::planning
