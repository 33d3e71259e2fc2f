#include "planning/choose_nodes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace gpupool::planning {
namespace {

// GPUs taken, then nodes taken.
using Cost = std::pair<std::int64_t, std::int64_t>;
constexpr Cost kUnreachable{std::numeric_limits<std::int64_t>::max(), 0};

bool all_alike(const std::vector<const PoolNode*>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const PoolNode* node) { return node->gpus == nodes[0]->gpus; });
}

std::vector<const PoolNode*> knapsack(const std::vector<const PoolNode*>& nodes, std::size_t workers,
                                      std::int64_t gpus_per_worker) {
  // best[s]: the cheapest way to s or more slots with the nodes seen so far; took[i][s]: whether node i is
  // part of it.
  std::vector<Cost> best(workers + 1, kUnreachable);
  best[0] = {0, 0};
  std::vector<std::vector<bool>> took(nodes.size(), std::vector<bool>(workers + 1, false));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto slots = static_cast<std::size_t>(worker_slots(*nodes[i], gpus_per_worker));
    for (std::size_t s = workers; s > 0; --s) {
      const auto& rest = best[s > slots ? s - slots : 0];
      if (rest == kUnreachable) continue;
      const Cost with{rest.first + nodes[i]->gpus, rest.second + 1};
      if (with < best[s]) {
        best[s] = with;
        took[i][s] = true;
      }
    }
  }
  std::vector<const PoolNode*> chosen;
  std::size_t s = workers;
  for (std::size_t i = nodes.size(); i-- > 0 && s > 0;) {
    if (!took[i][s]) continue;
    chosen.push_back(nodes[i]);
    const auto slots = static_cast<std::size_t>(worker_slots(*nodes[i], gpus_per_worker));
    s -= std::min(s, slots);
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker) {
  return node.gpus / gpus_per_worker;
}

std::pair<std::int64_t, std::int64_t> cost_of(const std::vector<const PoolNode*>& nodes) {
  std::int64_t gpus = 0;
  for (const auto* node : nodes) gpus += node->gpus;
  return {gpus, static_cast<std::int64_t>(nodes.size())};
}

std::optional<std::vector<const PoolNode*>> choose_nodes(std::vector<const PoolNode*> candidates,
                                                         std::int64_t workers, std::int64_t gpus_per_worker) {
  std::erase_if(candidates, [&](const PoolNode* node) { return worker_slots(*node, gpus_per_worker) == 0; });
  std::int64_t slots = 0;
  for (const auto* node : candidates) slots += worker_slots(*node, gpus_per_worker);
  if (slots < workers) return std::nullopt;
  const auto by_name = [](const PoolNode* a, const PoolNode* b) { return a->name < b->name; };
  if (!std::is_sorted(candidates.begin(), candidates.end(), by_name)) {  // as a rule they are
    std::sort(candidates.begin(), candidates.end(), by_name);
  }
  if (all_alike(candidates)) {  // the usual pool: no need for the table
    const auto each = worker_slots(*candidates[0], gpus_per_worker);
    candidates.resize(static_cast<std::size_t>((workers + each - 1) / each));
    return candidates;
  }
  return knapsack(candidates, static_cast<std::size_t>(workers), gpus_per_worker);
}

std::optional<std::vector<const PoolNode*>> choose_nodes_of_one_model(
    const std::vector<const PoolNode*>& candidates, std::int64_t workers, std::int64_t gpus_per_worker) {
  std::map<std::string, std::vector<const PoolNode*>> by_model;
  for (const auto* node : candidates) by_model[node->model].push_back(node);
  std::optional<std::vector<const PoolNode*>> best;
  for (auto& [model, nodes] : by_model) {
    auto choice = choose_nodes(std::move(nodes), workers, gpus_per_worker);
    if (choice && (!best || cost_of(*choice) < cost_of(*best))) best = std::move(choice);
  }
  return best;
}

std::optional<std::vector<const PoolNode*>> choose_nodes_of(const api::PoolGpus& wanted,
                                                            const std::vector<const PoolNode*>& candidates,
                                                            std::int64_t workers,
                                                            std::int64_t gpus_per_worker) {
  return wanted.homogeneous ? choose_nodes_of_one_model(candidates, workers, gpus_per_worker)
                            : choose_nodes(candidates, workers, gpus_per_worker);
}

std::vector<api::NodeRef> references(const std::vector<const PoolNode*>& nodes) {
  std::vector<api::NodeRef> refs;
  refs.reserve(nodes.size());
  for (const auto* node : nodes) refs.push_back({node->name, node->uid});
  std::sort(refs.begin(), refs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return refs;
}

}  // namespace gpupool::planning
