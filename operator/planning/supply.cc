#include "planning/supply.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace gpupool::planning {

Supply::Supply(const api::PoolGpus& wanted, const std::vector<const Candidate*>& candidates,
               const Demand& demand)
    : workers_(demand.workers), gpus_per_worker_(demand.gpus_per_worker) {
  std::map<std::string_view, Group> by_model;
  Group* group = nullptr;  // stays where one job may mix models
  for (const auto* candidate : candidates) {
    if (worker_slots(*candidate->node, gpus_per_worker_) == 0) continue;
    if (group == nullptr || wanted.homogeneous) group = &by_model[candidate->node->model];
    group->nodes.push_back(candidate);
  }
  for (auto& [model, of_model] : by_model) {
    put_in_order(of_model);
    groups_.push_back(std::move(of_model));
  }
}

void Supply::put_in_order(Group& group) const {
  const auto gpus = [](const Candidate* candidate) { return candidate->node->gpus; };
  if (workers_ == 1) {
    std::ranges::stable_sort(group.nodes, {}, gpus);  // the fewest GPUs that are enough, then the first name
    group.enough = 1;
    return;
  }
  if (std::ranges::adjacent_find(group.nodes, std::ranges::not_equal_to(), gpus) != group.nodes.end()) return;
  const auto slots = worker_slots(*group.nodes[0]->node, gpus_per_worker_);
  group.enough = static_cast<std::size_t>((workers_ + slots - 1) / slots);
}

std::optional<std::vector<const PoolNode*>> Supply::choose(Group& group) const {
  const auto& nodes = group.nodes;
  while (group.taken < nodes.size() && !nodes[group.taken]->free()) ++group.taken;
  std::vector<const PoolNode*> found;
  for (auto i = group.taken; i < nodes.size() && (group.enough == 0 || found.size() < group.enough); ++i) {
    if (nodes[i]->free()) found.push_back(nodes[i]->node);
  }
  if (group.enough == 0) return choose_nodes(std::move(found), workers_, gpus_per_worker_);
  if (found.size() < group.enough) return std::nullopt;
  return found;
}

std::optional<std::vector<const PoolNode*>> Supply::next() {
  std::optional<std::vector<const PoolNode*>> best;
  for (auto& group : groups_) {
    auto choice = choose(group);
    if (choice && (!best || cost_of(*choice) < cost_of(*best))) best = std::move(choice);
  }
  return best;
}

}  // namespace gpupool::planning
