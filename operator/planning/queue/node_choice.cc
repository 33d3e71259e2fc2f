// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/node_choice.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/nodes/node_gpus.h"
#include "planning/nodes/node_needs.h"
#include "planning/queue/spare_nodes.h"
#include "planning/queue/unmet_needs.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

bool usable_for(const PoolNode& node, const Demand& demand) {
  return node.usable() && tolerates(demand.needs.tolerations, node.foreign_taints);
}

// Returns the number of such workers that the nodes together have room for.
std::int64_t room(const std::vector<const Candidate*>& nodes, const Demand& demand) {
  std::int64_t slots = 0;
  for (const auto* candidate : nodes)
    slots += worker_slots(*candidate->node, demand.gpus_per_worker, demand.needs);
  return slots;
}

std::vector<const PoolNode*> nodes_of(const std::vector<const Candidate*>& candidates) {
  std::vector<const PoolNode*> nodes(candidates.size());
  std::ranges::transform(candidates, nodes.begin(), [](const Candidate* each) { return each->node; });
  return nodes;
}

// The nodes of each group of demand.near.
std::vector<std::vector<const Candidate*>> near_groups(const std::vector<const Candidate*>& nodes,
                                                       const Demand& demand) {
  std::vector<std::vector<const Candidate*>> groups;
  for (const auto& group : far_groups(demand.near, nodes_of(nodes))) {
    auto& candidates = groups.emplace_back();
    for (const auto index : group) candidates.push_back(nodes[index]);
  }
  return groups;
}

bool have_room(const std::vector<const Candidate*>& nodes, const Demand& demand) {
  return room(nodes, demand) >= demand.workers;
}

// Those in groups with room for the whole job.
std::vector<const Candidate*> in_large_groups(const std::vector<const Candidate*>& nodes,
                                              const Demand& demand) {
  std::vector<const Candidate*> large;
  for (const auto& group : near_groups(nodes, demand)) {
    if (have_room(group, demand)) large.insert(large.end(), group.begin(), group.end());
  }
  std::ranges::sort(large);  // pointers into one vector, which is in order of name
  return large;
}

// Says by how much the nodes are too small: ": the largest node has 2 GPUs". spares: the pool has more nodes.
std::string how_small(const std::vector<const Candidate*>& nodes, const Demand& demand, bool spares = false) {
  if (nodes.empty()) return spares ? ": it has no other nodes" : ": it has no nodes";
  auto workers = room(nodes, demand);
  if (demand.near.required) {
    workers = 0;
    for (const auto& group : near_groups(nodes, demand)) workers = std::max(workers, room(group, demand));
  }
  if (workers > 0) return ": there is room for " + std::to_string(workers);
  std::int64_t most = 0;
  for (const auto* candidate : nodes) most = std::max(most, candidate->node->gpus);
  return ": the largest node has " + std::to_string(most) + (most == 1 ? " GPU" : " GPUs");
}

constexpr std::size_t kMaxMismatches = 3;  // nodes that are named with the reason why they do not match

}  // namespace

NodeChoice::NodeChoice(std::shared_ptr<const api::GpuPool> pool, const std::vector<const PoolNode*>& nodes)
    : pool_(std::move(pool)), spares_(count_of_spares(*pool_)) {
  nodes_.reserve(nodes.size());
  for (const auto* node : nodes) nodes_.push_back({node, gpu_mismatch(*node, pool_->spec.gpus).empty()});
  mark_spares(nodes_, spares_);
}

std::optional<NodeChoice::Nodes> NodeChoice::take(const Demand& demand, NodePicker::Of of,
                                                  const std::function<bool(const Nodes&)>& accept) {
  auto now = choose_now(demand, of);
  if (!now || !accept(*now)) return std::nullopt;
  give(*now);
  return now;
}

void NodeChoice::give(const Nodes& nodes) {
  bool took_spares = false;
  for (const auto* node : nodes) {
    auto& candidate = nodes_[index_of(node->name)];
    candidate.given = true;
    took_spares = took_spares || candidate.spare;
  }
  if (took_spares) mark_spares(nodes_, spares_);
}

bool NodeChoice::has_its_spares() const {
  return spares_ == 0 || std::ranges::count(nodes_, true, &Candidate::spare) >= spares_;
}

bool NodeChoice::gave(const PoolNode& node) const {
  const auto index = index_of(node.name);
  return index < nodes_.size() && nodes_[index].given && !nodes_[index].spare;
}

std::size_t NodeChoice::index_of(const std::string& name) const {
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), name,
      [](const Candidate& candidate, const std::string& wanted) { return candidate.node->name < wanted; });
  const bool known = found != nodes_.end() && found->node->name == name;
  return known ? static_cast<std::size_t>(found - nodes_.begin()) : nodes_.size();
}

NodeChoice::Candidates NodeChoice::usable(const Demand& demand, NodePicker::Of of) const {
  Candidates found;
  for (const auto& candidate : nodes_) {
    const bool had = NodePicker::is_of(of, candidate);
    if (candidate.fits && had && usable_for(*candidate.node, demand)) found.push_back(&candidate);
  }
  return found;
}

NodePicker NodeChoice::supply(const Demand& demand, const Candidates& candidates, NodePicker::Of of) const {
  return {pool_->spec.gpus, candidates, demand.workers, demand.gpus_per_worker,
          demand.needs,     of,         demand.near};
}

NodeChoice::Candidates NodeChoice::named(const Demand& demand) const {
  Candidates found;
  for (const auto& name : demand.nodes) {
    if (const auto index = index_of(name); index < nodes_.size()) found.push_back(&nodes_[index]);
  }
  std::sort(found.begin(), found.end());  // pointers into nodes_, which is in order of name
  return found;
}

std::optional<NodeChoice::Nodes> NodeChoice::choose_now(const Demand& demand, NodePicker::Of of) {
  if (!demand.nodes.empty()) return choose_named(demand, of);
  if (auto chosen = choose_unavoided(demand, of)) return chosen;
  if (of == NodePicker::Of::kKept) return supply(demand, usable(demand, of), of).next();
  auto known = supplies_.find(demand);
  if (known == supplies_.end())
    known = supplies_.emplace(demand, supply(demand, usable(demand, of), of)).first;
  auto chosen = known->second.next();
  if (!chosen) supplies_.erase(known);  // it will not get nodes again in this pass
  return chosen;
}

// Nothing if the job avoids no node, or cannot get enough others now.
std::optional<NodeChoice::Nodes> NodeChoice::choose_unavoided(const Demand& demand, NodePicker::Of of) const {
  if (demand.avoided.empty()) return std::nullopt;
  auto others = usable(demand, of);
  std::erase_if(others, [&](const Candidate* each) { return demand.avoids(each->node->name); });
  return supply(demand, others, of).next();
}

std::optional<NodeChoice::Nodes> NodeChoice::choose_named(const Demand& demand, NodePicker::Of of) const {
  if (problem_of_named(demand)) return std::nullopt;
  Nodes nodes;
  const auto candidates = named(demand);
  for (const auto* candidate : candidates) {
    const bool held = candidate->node->leased || candidate->given;
    if (held || (candidate->kept && of == NodePicker::Of::kFree)) return std::nullopt;
    nodes.push_back(candidate->node);
  }
  if (!can_replace_spares(candidates, nodes_)) return std::nullopt;
  return nodes;
}

tl::expected<NodeChoice::Candidates, Verdict> NodeChoice::possible(const Demand& demand) const {
  if (!demand.nodes.empty()) {
    if (auto problem = problem_of_named(demand)) return tl::unexpected(*std::move(problem));
    return named(demand);
  }
  auto candidates = without_spares(usable(demand, NodePicker::Of::kAll), nodes_, spares_, false);
  if (!supply(demand, candidates, NodePicker::Of::kAll).next()) return tl::unexpected(never(demand));
  if (demand.needs.narrow()) {  // those that cannot help the job are not kept from others
    std::erase_if(candidates, [&](const Candidate* each) {
      return worker_slots(*each->node, demand.gpus_per_worker, demand.needs) == 0;
    });
  }
  if (demand.near.required) return in_large_groups(candidates, demand);
  return candidates;
}

Verdict NodeChoice::wait_for(const Demand& demand, const Candidates& wanted) const {
  const bool behind = std::ranges::any_of(wanted, [](const Candidate* each) {
    return each->kept;  // also if it is free, so that the message does not change whenever a job ends
  });
  return wait_in_line(pool_->metadata.name, "nodes for " + demand.text() + besides_spares(spares_), behind);
}

NodeChoice::Start NodeChoice::earliest(const Demand& demand, const Candidates& wanted,
                                       const FreeAt& free_at) const {
  Start start;
  std::vector<std::pair<base::WallTime, const Candidate*>> ends;
  ends.reserve(wanted.size());
  for (const auto* candidate : wanted) {
    if (candidate->unclaimed()) start.nodes.push_back(candidate);
    if (const auto end = free_at(*candidate)) ends.emplace_back(*end, candidate);
  }
  std::ranges::sort(ends);
  const auto some = [&](std::size_t from, std::size_t to) -> std::optional<Nodes> {
    Candidates candidates;
    candidates.reserve(to - from);
    for (auto i = from; i < to; ++i) candidates.push_back(ends[i].second);
    std::ranges::sort(candidates);
    if (demand.nodes.empty()) return supply(demand, candidates, NodePicker::Of::kAll).next();
    return candidates.size() == wanted.size() ? std::optional(nodes_of(candidates)) : std::nullopt;
  };
  const auto first = [&](std::size_t count) { return some(0, count); };
  // Of those that are free by then, the last, so that others may take what is free now.
  const auto last_of = [&](std::size_t count) {
    std::size_t enough_left = 0;  // without so many of the earliest, the others suffice
    std::size_t too_few_left = count;
    while (enough_left + 1 < too_few_left) {
      const auto middle = enough_left + (too_few_left - enough_left) / 2;
      (some(middle, count) ? enough_left : too_few_left) = middle;
    }
    return some(enough_left, count);
  };
  if (ends.empty() || !first(ends.size())) return start;
  std::size_t few = 0;  // too few
  std::size_t enough = ends.size();
  while (few + 1 < enough) {
    const auto middle = few + (enough - few) / 2;
    (first(middle) ? enough : few) = middle;
  }
  start.at = ends[enough - 1].first;
  while (enough < ends.size() && ends[enough].first == *start.at) ++enough;
  const auto chosen = last_of(enough);
  start.nodes.clear();
  for (const auto* node : *chosen) start.nodes.push_back(&nodes_[index_of(node->name)]);
  std::ranges::sort(start.nodes);
  return start;
}

std::optional<NodeChoice::Nodes> NodeChoice::choose_among(const Demand& demand,
                                                          const Candidates& from) const {
  if (!demand.nodes.empty())
    return from.size() == demand.nodes.size() ? std::optional(nodes_of(from)) : std::nullopt;
  if (!demand.avoided.empty()) {
    auto others = from;
    std::erase_if(others, [&](const Candidate* each) { return demand.avoids(each->node->name); });
    if (auto chosen = supply(demand, others, NodePicker::Of::kAll).next()) return chosen;
  }
  return supply(demand, from, NodePicker::Of::kAll).next();
}

void NodeChoice::keep(const Demand& demand, const Candidates& wanted) {
  for (const auto* candidate : wanted)
    nodes_[static_cast<std::size_t>(candidate - nodes_.data())].kept = true;
  if (!demand.nodes.empty()) keep_for_spares(wanted, nodes_, spares_);
}

// Why the job could not run even on an empty pool.
Verdict NodeChoice::never(const Demand& demand) const {
  const auto& pool = pool_->metadata.name;
  Candidates fitting;
  for (const auto& candidate : nodes_) {
    if (candidate.fits) fitting.push_back(&candidate);
  }
  if (fitting.empty() && !nodes_.empty()) {
    return {{},
            reason::kNoMatchingModel,
            "no node of pool " + pool + " has GPUs as spec.gpus of the pool asks for: " + mismatches()};
  }
  auto nodes = nodes_of(fitting);
  if (auto unmet = unmet_by_all(pool, nodes, demand.needs)) return *std::move(unmet);
  fitting = without_spares(std::move(fitting), nodes_, spares_, true);
  nodes = nodes_of(fitting);
  if (supply(demand, fitting, NodePicker::Of::kAll).next()) {
    return {{},
            reason::kWaitingForNodes,
            "pool " + pool + " could hold " + demand.text() + besides_spares(spares_) +
                " only with nodes that are not ready, cordoned, drained or tainted now"};
  }
  if (auto held = only_without_foreign(demand, nodes)) return *std::move(held);
  const bool mixed = pool_->spec.gpus.homogeneous && have_room(fitting, demand);
  if (mixed)
    return {{}, reason::kNoMatchingModel, "pool " + pool + " has no single GPU model for " + demand.text()};
  return {{},
          reason::kTooLarge,
          "pool " + pool + " is too small for " + demand.text() + (demand.needs.narrow() ? kAsAsked : "") +
              besides_spares(spares_) + how_small(fitting, demand, spares_ > 0)};
}

// Why the first nodes do not match; the pool's status names more.
std::string NodeChoice::mismatches() const {
  std::string text;
  for (std::size_t i = 0; i < nodes_.size() && i < kMaxMismatches; ++i) {
    const auto& node = *nodes_[i].node;
    text += (i == 0 ? "" : "; ") + node.name + ": " + gpu_mismatch(node, pool_->spec.gpus);
  }
  if (nodes_.size() > kMaxMismatches)
    text +=
        "; and " + std::to_string(nodes_.size() - kMaxMismatches) + " more, see status.excluded of the pool";
  return text;
}

// The job could run on these nodes if foreign pods left them.
std::optional<Verdict> NodeChoice::only_without_foreign(const Demand& demand, const Nodes& nodes) const {
  const PoolNode* crowded = nullptr;
  std::vector<PoolNode> bare;
  std::vector<Candidate> all;
  Candidates candidates;
  bare.reserve(nodes.size());
  all.reserve(nodes.size());
  for (const auto* node : nodes) {
    bare.push_back(without_foreign(*node));
    all.push_back({&bare.back()});
    candidates.push_back(&all.back());
    const bool fewer = worker_slots(*node, demand.gpus_per_worker, demand.needs) <
                       worker_slots(bare.back(), demand.gpus_per_worker, demand.needs);
    if (fewer && crowded == nullptr) crowded = node;
  }
  if (crowded == nullptr || !supply(demand, candidates, NodePicker::Of::kAll).next()) return std::nullopt;
  const auto gpus = foreign_gpus_text(*crowded);
  return Verdict{{},
                 reason::kWaitingForNodes,
                 "pool " + pool_->metadata.name + " could hold " + demand.text() +
                     " only without the pods of others that hold GPUs, CPU or memory, for example on node " +
                     crowded->name + (gpus.empty() ? "" : ": " + gpus)};
}

std::optional<Verdict> NodeChoice::problem_of_named(const Demand& demand) const {
  for (const auto& name : demand.nodes) {
    const auto index = index_of(name);
    if (index == nodes_.size()) {
      return Verdict{
          {}, reason::kNoSuchNode, "node " + name + " of spec.nodes is not in pool " + pool_->metadata.name};
    }
    if (const auto mismatch = gpu_mismatch(*nodes_[index].node, pool_->spec.gpus); !mismatch.empty()) {
      return Verdict{{},
                     reason::kNoMatchingModel,
                     std::string("node ").append(name).append(" of spec.nodes: ").append(mismatch)};
    }
    if (auto unmet = unmet_by_named(*nodes_[index].node, demand.needs)) return unmet;
  }
  const auto nodes = named(demand);
  if (!have_room(nodes, demand)) {
    if (auto held = only_without_foreign(demand, nodes_of(nodes))) return held;
    return Verdict{{},
                   reason::kTooLarge,
                   "the nodes of spec.nodes are too small for " + demand.text() + how_small(nodes, demand)};
  }
  if (pool_->spec.gpus.homogeneous && std::ranges::any_of(nodes, [&](const Candidate* other) {
        return other->node->model != nodes[0]->node->model;
      })) {
    return Verdict{{}, reason::kNoMatchingModel, "the nodes of spec.nodes have different GPU models"};
  }
  if (auto problem = too_few_for_spares(nodes, nodes_, *pool_)) return problem;
  if (!std::ranges::all_of(nodes, [&](const auto* each) { return usable_for(*each->node, demand); })) {
    return Verdict{
        {}, reason::kWaitingForNodes, "a node of spec.nodes is not ready, cordoned, drained or tainted"};
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
