#include "planning/supply.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "planning/fewest_idle.h"

namespace gpupool::planning {
namespace {

// GPUs, then nodes: the lowest is the best.
std::pair<std::int64_t, std::size_t> cost_of(const std::vector<const PoolNode*>& nodes) {
  std::int64_t gpus = 0;
  for (const auto* node : nodes) gpus += node->gpus;
  return {gpus, nodes.size()};
}

}  // namespace

Supply::Supply(const api::PoolGpus& wanted, const std::vector<const Candidate*>& candidates,
               std::int64_t workers, std::int64_t gpus_per_worker, Of of)
    : workers_(workers), gpus_per_worker_(gpus_per_worker), of_(of) {
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
  while (group.taken < nodes.size() && !may_give(*nodes[group.taken])) ++group.taken;
  std::vector<const PoolNode*> found;
  std::int64_t slots = 0;
  for (auto i = group.taken; i < nodes.size() && (group.enough == 0 || found.size() < group.enough); ++i) {
    if (!may_give(*nodes[i])) continue;
    found.push_back(nodes[i]->node);
    slots += worker_slots(*nodes[i]->node, gpus_per_worker_);
  }
  if (slots < workers_) return std::nullopt;
  return group.enough > 0 ? found : fewest_idle(found, workers_, gpus_per_worker_);
}

std::optional<std::vector<const PoolNode*>> Supply::next() {
  std::optional<std::vector<const PoolNode*>> best;
  for (auto& group : groups_) {
    auto choice = choose(group);
    if (choice && (!best || cost_of(*choice) < cost_of(*best))) best = std::move(choice);
  }
  return best;
}

std::vector<api::NodeRef> references(const std::vector<const PoolNode*>& nodes) {
  std::vector<api::NodeRef> refs;
  refs.reserve(nodes.size());
  for (const auto* node : nodes) refs.push_back({node->name, node->uid});
  std::sort(refs.begin(), refs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return refs;
}

}  // namespace gpupool::planning
