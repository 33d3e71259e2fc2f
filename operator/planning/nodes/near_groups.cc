// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/near_groups.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace gpupool::planning {
namespace {

// Nodes with one value of a label.
struct NearGroup {
  std::int64_t slots = 0;
  Indexes nodes = {};
};

std::string_view value_of(const PoolNode& node, const std::string& label) {
  const auto found = node.labels().find(label);
  return found == node.labels().end() ? std::string_view() : std::string_view(found->second);
}

// Splits these nodes by the label, in order of their first node. node_at(i): the node with index i.
template <class NodeAt>
std::vector<NearGroup> split(const Indexes& nodes, const std::string& label, const NodeAt& node_at) {
  std::vector<NearGroup> groups;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const auto index : nodes) {
    const auto value = value_of(node_at(index), label);
    auto group = groups.size();
    if (!value.empty()) group = known.emplace(value, group).first->second;
    if (group == groups.size()) groups.emplace_back();
    groups[group].nodes.push_back(index);
  }
  return groups;
}

Indexes all_indexes(std::size_t count) {
  Indexes all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

class NearSearch {
 public:
  NearSearch(const api::Near& near, const std::vector<NodeSlots>& nodes, std::int64_t workers,
             const CostOf& cost_of)
      : near_(near), nodes_(nodes), workers_(workers), cost_of_(cost_of) {}

  // Looks only at the first `levels` labels.
  std::optional<NearChoice> among(const Indexes& nodes, std::size_t levels) const {
    if (levels == 0) {
      const auto cost = cost_of_(nodes);
      return cost ? std::optional(NearChoice{{}, *cost, nodes}) : std::nullopt;
    }
    auto groups = split(nodes, near_.labels[levels - 1],
                        [&](std::size_t index) -> const PoolNode& { return *nodes_[index].node; });
    for (auto& group : groups) {
      for (const auto index : group.nodes) group.slots += nodes_[index].slots;
    }
    auto best = in_one(groups, levels);
    if (best || (near_.required && levels == near_.labels.size())) return best;
    return in_several(std::move(groups), levels);
  }

 private:
  std::optional<NearChoice> in_one(const std::vector<NearGroup>& groups, std::size_t levels) const {
    std::optional<NearChoice> best;
    std::int64_t slots = 0;  // of the group of `best`
    for (const auto& group : groups) {
      if (group.slots < workers_) continue;
      auto choice = among(group.nodes, levels - 1);
      if (!choice) continue;
      if (best &&
          std::tie(best->groups, best->cost, slots) <= std::tie(choice->groups, choice->cost, group.slots))
        continue;
      best = std::move(choice);
      slots = group.slots;
    }
    if (best) best->groups.insert(best->groups.begin(), 1);
    return best;
  }

  std::optional<NearChoice> in_several(std::vector<NearGroup> groups, std::size_t levels) const {
    std::ranges::stable_sort(groups, std::ranges::greater(), &NearGroup::slots);
    Indexes chosen;
    std::int64_t missing = workers_;
    for (std::size_t count = 1; count <= groups.size(); ++count) {
      const auto next = groups.begin() + static_cast<std::ptrdiff_t>(count) - 1;
      const auto end =
          std::partition_point(next, groups.end(), [&](const auto& group) { return group.slots >= missing; });
      if (end != next) {
        const auto least = std::prev(end)->slots;
        const auto last = std::find_if(next, end, [&](const auto& group) { return group.slots == least; });
        auto with = chosen;
        with.insert(with.end(), last->nodes.begin(), last->nodes.end());
        std::ranges::sort(with);
        if (auto choice = among(with, levels - 1)) {
          choice->groups.insert(choice->groups.begin(), static_cast<std::int64_t>(count));
          return choice;
        }
      }
      chosen.insert(chosen.end(), next->nodes.begin(), next->nodes.end());
      missing -= next->slots;
    }
    std::ranges::sort(chosen);
    auto choice = among(chosen, levels - 1);
    if (choice) choice->groups.insert(choice->groups.begin(), static_cast<std::int64_t>(groups.size()));
    return choice;
  }

  const api::Near& near_;
  const std::vector<NodeSlots>& nodes_;
  std::int64_t workers_;
  const CostOf& cost_of_;
};

}  // namespace

api::Near near_of(const api::GpuJobSpec& job, const std::optional<api::Near>& of_pool) {
  if (api::worker_count(job) == 1 || !job.nodes.empty()) return {};
  auto near = job.near ? *job.near : of_pool.value_or(api::Near());
  return near.labels.empty() ? api::Near() : near;
}

std::string near_text(const api::Near& near) {
  return near.required && !near.labels.empty() ? " on nodes with the same " + near.labels.back() : "";
}

std::vector<Indexes> far_groups(const api::Near& near, const std::vector<const PoolNode*>& nodes) {
  std::vector<Indexes> all;
  for (auto& group : split(all_indexes(nodes.size()), near.labels.back(),
                           [&](std::size_t index) -> const PoolNode& { return *nodes[index]; }))
    all.push_back(std::move(group.nodes));
  return all;
}

std::optional<NearChoice> choose_near(const api::Near& near, const std::vector<NodeSlots>& nodes,
                                      std::int64_t workers, const CostOf& cost_of) {
  return NearSearch(near, nodes, workers, cost_of).among(all_indexes(nodes.size()), near.labels.size());
}

}  // namespace gpupool::planning
