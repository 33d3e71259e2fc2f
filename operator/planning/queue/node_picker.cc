// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/node_picker.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace gpupool::planning {
namespace {

// Number of GPUs, then number of nodes; the lowest is the best.
std::pair<std::int64_t, std::int64_t> cost_of(const std::vector<const PoolNode*>& nodes) {
  std::int64_t gpus = 0;
  for (const auto* node : nodes) gpus += node->gpus;
  return {gpus, static_cast<std::int64_t>(nodes.size())};
}

std::vector<const PoolNode*> nodes_of(const std::vector<NodeSlots>& places) {
  std::vector<const PoolNode*> all(places.size());
  std::ranges::transform(places, all.begin(), [](const NodeSlots& each) { return each.node; });
  return all;
}

// Returns the choice of lowest rank that a group offers; nothing if none does.
template <class Group, class Choose, class Rank>
auto best_of(std::vector<Group>& groups, const Choose& choose, const Rank& rank) {
  decltype(choose(groups.front())) best;
  for (auto& group : groups) {
    auto choice = choose(group);
    if (choice && (!best || rank(*choice) < rank(*best))) best = std::move(choice);
  }
  return best;
}

}  // namespace

NodePicker::NodePicker(const api::PoolGpus& wanted, const std::vector<const Candidate*>& candidates,
                       std::int64_t workers, std::int64_t gpus_per_worker, const NodeNeeds& needs, Of of,
                       api::Near near)
    : workers_(workers), of_(of), near_(std::move(near)) {
  std::map<std::string_view, Group> by_model;
  Group* group = nullptr;  // one group for all models, unless the pool is homogeneous
  for (const auto* candidate : candidates) {
    const auto slots = worker_slots(*candidate->node, gpus_per_worker, needs);
    if (slots == 0) continue;
    if (group == nullptr || wanted.homogeneous) group = &by_model[candidate->node->model];
    group->nodes.push_back({candidate, slots});
  }
  for (auto& [model, of_model] : by_model) {
    put_in_order(of_model);
    groups_.push_back(std::move(of_model));
  }
}

void NodePicker::put_in_order(Group& group) const {
  const auto gpus = [](const Place& place) { return place.candidate->node->gpus; };
  const auto size = [&](const Place& place) { return std::pair(gpus(place), place.slots); };
  if (workers_ == 1) {
    std::ranges::stable_sort(group.nodes, {}, gpus);  // fewest GPUs first; then in order of name
    group.enough = 1;
    return;
  }
  if (std::ranges::adjacent_find(group.nodes, std::ranges::not_equal_to(), size) != group.nodes.end()) return;
  const auto slots = group.nodes[0].slots;
  group.enough = static_cast<std::size_t>((workers_ + slots - 1) / slots);
}

std::optional<NodePicker::NearNodes> NodePicker::choose_near_ones(const Group& group) const {
  std::vector<NodeSlots> free;
  for (const auto& place : group.nodes) {
    if (may_give(*place.candidate)) free.push_back({place.candidate->node, place.slots});
  }
  const auto pick = [&](const Indexes& nodes) {
    std::vector<NodeSlots> some;
    std::int64_t slots = 0;
    for (const auto index : nodes) {
      if (group.enough > 0 && some.size() == group.enough) break;
      some.push_back(free[index]);
      slots += free[index].slots;
    }
    if (slots < workers_) some.clear();
    return group.enough > 0 || some.empty() ? nodes_of(some) : min_waste(some, workers_);
  };
  const auto choice =
      choose_near(near_, free, workers_,
                  [&](const Indexes& nodes) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
                    const auto picked = pick(nodes);
                    if (picked.empty()) return std::nullopt;
                    return cost_of(picked);
                  });
  if (!choice) return std::nullopt;
  return NearNodes{choice->groups, pick(choice->nodes)};
}

std::optional<NodePicker::Nodes> NodePicker::choose(Group& group) const {
  const auto& nodes = group.nodes;
  while (group.taken < nodes.size() && !may_give(*nodes[group.taken].candidate)) ++group.taken;
  std::vector<NodeSlots> found;
  std::int64_t slots = 0;
  for (auto i = group.taken; i < nodes.size() && (group.enough == 0 || found.size() < group.enough); ++i) {
    if (!may_give(*nodes[i].candidate)) continue;
    found.push_back({nodes[i].candidate->node, nodes[i].slots});
    slots += nodes[i].slots;
  }
  if (slots < workers_) return std::nullopt;
  return group.enough == 0 ? min_waste(found, workers_) : nodes_of(found);
}

std::optional<std::vector<const PoolNode*>> NodePicker::next() {
  if (!near_.labels.empty()) {
    const auto rank = [](const NearNodes& choice) { return std::pair(choice.first, cost_of(choice.second)); };
    auto best = best_of(groups_, [&](const Group& group) { return choose_near_ones(group); }, rank);
    return best ? std::optional(std::move(best->second)) : std::nullopt;
  }
  return best_of(groups_, [&](Group& group) { return choose(group); }, cost_of);
}

std::vector<api::NodeRef> references(const std::vector<const PoolNode*>& nodes) {
  std::vector<api::NodeRef> refs;
  refs.reserve(nodes.size());
  for (const auto* node : nodes) refs.push_back({node->name, node->uid});
  std::sort(refs.begin(), refs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return refs;
}

}  // namespace gpupool::planning
