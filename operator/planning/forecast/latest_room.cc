// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/latest_room.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "planning/nodes/near_groups.h"
#include "planning/queue/spare_nodes.h"
#include "planning/slices/choose_slices.h"
#include "planning/slices/free_slices.h"

namespace gpupool::planning {
namespace {

bool may_use(const PoolNode& node, const Demand& demand) {
  return node.takes_jobs() && tolerates(demand.needs.tolerations, node.foreign_taints) &&
         (demand.nodes.empty() || std::ranges::find(demand.nodes, node.name) != demand.nodes.end());
}

// The number of the group that each node belongs to, if the job needs one group (spec.near).
std::vector<std::size_t> near_group_of(const Demand& demand, const std::vector<const PoolNode*>& nodes) {
  std::vector<std::size_t> groups(nodes.size(), 0);
  if (!demand.near.required) return groups;
  std::size_t number = 0;
  for (const auto& group : far_groups(demand.near, nodes)) {
    for (const auto index : group) groups[index] = number;
    ++number;
  }
  return groups;
}

}  // namespace

LatestRoom::LatestRoom(const QueueSnapshot& queue, const WaitingLine::Entry& entry,
                       const std::vector<SharedNode>& drained)
    : workers_(entry.demand().workers),
      shared_(queue.pool->spec.sharing.has_value()),
      named_(!entry.demand().nodes.empty()),
      named_nodes_(entry.demand().nodes.size()),
      uses_(shared_ ? queue.shared.size() : queue.nodes.size(), false),
      reserves_(uses_) {
  if (shared_) {
    read_shared(queue, entry, drained);
  } else {
    read_whole(queue, entry.demand());
    read_spares(queue);
  }
  std::set<std::int64_t> rooms;
  std::size_t nodes = 0;
  for (const auto& group : groups_) {
    nodes = std::max(nodes, group.size());
    for (const auto& place : group) {
      uses_[place.node] = true;
      rooms.insert(place.when_left);
    }
  }
  const auto even = rooms.size() == 1 ? *rooms.begin() : 1;
  const auto most = shared_ ? workers_ : (workers_ + even - 1) / even;
  most_nodes_ = named_ ? named_nodes_ : std::min(nodes, static_cast<std::size_t>(most));
}

void LatestRoom::read_whole(const QueueSnapshot& queue, const Demand& demand) {
  std::vector<const PoolNode*> nodes;
  nodes.reserve(queue.nodes.size());
  for (const auto& node : queue.nodes) nodes.push_back(&node);
  const auto near = near_group_of(demand, nodes);
  std::map<std::pair<std::string, std::size_t>, Group> groups;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = *nodes[i];
    if (!may_use(node, demand) || !gpu_mismatch(node, queue.pool->spec.gpus).empty()) continue;
    reserves_[i] = true;
    const auto slots = worker_slots(node, demand.gpus_per_worker, demand.needs);
    if (slots <= 0) continue;
    const auto& model = queue.pool->spec.gpus.homogeneous ? node.model : std::string();
    groups[{model, near[i]}].push_back({i, node.leased ? 0 : slots, slots});
  }
  for (auto& [key, group] : groups) groups_.push_back(std::move(group));
}

// A named job waits until other nodes can be the spares, and reserves these. So it meets all jobs.
void LatestRoom::read_spares(const QueueSnapshot& queue) {
  spares_ = count_of_spares(*queue.pool);
  if (spares_ == 0) return;
  for (const auto& node : queue.nodes)
    may_be_spare_.push_back(may_be_spare(node, queue.pool->spec.gpus) ? &node : nullptr);
  if (!named_) return;
  for (std::size_t i = 0; i < uses_.size(); ++i) uses_[i] = reserves_[i] = may_be_spare_[i] != nullptr;
}

void LatestRoom::read_shared(const QueueSnapshot& queue, const WaitingLine::Entry& entry,
                             const std::vector<SharedNode>& drained) {
  const auto& demand = entry.demand();
  const auto& spec = queue.pool->spec;
  auto need = need_of(entry.job()->spec, spec.rents_gpus());
  need.requests = demand.needs.requests;
  std::vector<const PoolNode*> nodes;
  nodes.reserve(queue.shared.size());
  for (const auto& node : queue.shared) nodes.push_back(&node.node);
  const auto near = near_group_of(demand, nodes);
  std::map<std::tuple<std::int64_t, std::string, std::size_t>, Group> groups;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = queue.shared[i];
    const bool open = node.unusable.empty() && node.marked && !node.node.leased;
    if (!open || !may_use(node.node, demand) || !suits(node.node, demand.needs)) continue;
    reserves_[i] = true;
    const auto claim = claim_on(node, need);
    const auto when_left = room_on(drained[i], need);
    if (!claim || when_left <= 0) continue;
    const auto& model = spec.gpus.homogeneous ? node.node.model : std::string();
    groups[{claim->slices, model, near[i]}].push_back({i, room_on(node, need), when_left});
  }
  for (auto& [key, group] : groups) groups_.push_back(std::move(group));
}

// An adversary removes the nodes with the most room.
bool LatestRoom::fits_in(std::vector<std::int64_t> rooms, std::size_t others) const {
  std::ranges::sort(rooms, std::greater());
  if (named_) {
    if (others > 0 || rooms.size() < named_nodes_ || rooms.back() <= 0) return false;
    const auto nodes = static_cast<std::int64_t>(rooms.size());
    if (shared_) return rooms.back() >= (workers_ + nodes - 1) / nodes;
    return std::accumulate(rooms.begin(), rooms.end(), std::int64_t{0}) >= workers_;
  }
  if (others >= rooms.size()) return false;
  rooms.erase(rooms.begin(), rooms.begin() + static_cast<std::ptrdiff_t>(others));
  if (!shared_) return std::accumulate(rooms.begin(), rooms.end(), std::int64_t{0}) >= workers_;
  for (std::size_t count = 1; count <= rooms.size(); ++count) {  // as choose_slices: evenly on `count` nodes
    const auto each = (workers_ + static_cast<std::int64_t>(count) - 1) / static_cast<std::int64_t>(count);
    if (rooms[count - 1] >= each) return true;
  }
  return false;
}

std::vector<bool> LatestRoom::spares_when(const std::vector<bool>& left) const {
  auto free = may_be_spare_;
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (!left[i]) free[i] = nullptr;
  }
  return spares_among(free, spares_);
}

// For a named job: whether other nodes can be the spares besides its own.
bool LatestRoom::leaves_spares(const std::vector<bool>& left) const {
  auto others = left;
  for (const auto& group : groups_) {
    for (const auto& place : group) others[place.node] = false;
  }
  // As many, and as many without taints, as if it took none.
  const auto with = spares_when(left);
  const auto without = spares_when(others);
  const auto count = [&](const std::vector<bool>& spare, bool untainted) {
    std::int64_t found = 0;
    for (std::size_t i = 0; i < spare.size(); ++i) {
      if (spare[i] && (!untainted || may_be_spare_[i]->foreign_taints.empty())) ++found;
    }
    return found;
  };
  return count(without, false) >= count(with, false) && count(without, true) >= count(with, true);
}

bool LatestRoom::fits(const std::vector<bool>& left, std::size_t others) const {
  if (spares_ > 0 && named_ && !leaves_spares(left)) return false;
  const auto spare = spares_ > 0 && !named_ ? spares_when(left) : std::vector<bool>();
  return std::ranges::any_of(groups_, [&](const Group& group) {
    std::vector<std::int64_t> rooms;
    rooms.reserve(group.size());
    for (const auto& place : group) {
      if (!spare.empty() && spare[place.node]) continue;
      rooms.push_back(left[place.node] ? place.when_left : place.now);
    }
    return fits_in(std::move(rooms), others);
  });
}

bool LatestRoom::ever() const { return fits(std::vector<bool>(uses_.size(), true), 0); }

bool LatestRoom::share_one(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

}  // namespace gpupool::planning
