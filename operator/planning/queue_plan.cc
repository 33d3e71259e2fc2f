#include "planning/queue_plan.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/choose_nodes.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

bool usable_for(const PoolNode& node, const Demand& demand) {
  return node.usable() && tolerates(demand.tolerations, node.foreign_taints);
}

// The next of each group of one demand.
struct Head {
  const Demand* demand;
  WaitingLine::Jobs::const_iterator next;
  WaitingLine::Jobs::const_iterator end;
  bool operator<(const Head& other) const { return other.next->first < next->first; }  // first comes first
};

}  // namespace

QueuePlan::QueuePlan(std::shared_ptr<const api::GpuPool> pool, const std::vector<const PoolNode*>& nodes,
                     const WaitingLine& line)
    : pool_(std::move(pool)) {
  nodes_.reserve(nodes.size());
  for (const auto* node : nodes) nodes_.push_back({node, gpu_mismatch(*node, pool_->spec.gpus).empty()});
  std::priority_queue<Head> heads;
  for (const auto& [demand, jobs] : line.groups()) {
    heads.push({&demand, jobs.begin(), jobs.end()});
    const auto& end = std::prev(jobs.end())->first;
    if (is_last(end)) last_ = end;
  }
  while (!heads.empty()) {
    auto head = heads.top();
    heads.pop();
    const bool goes_on = decide(*head.demand, head.next->first.key);
    if (goes_on && ++head.next != head.end) heads.push(head);
  }
}

void QueuePlan::append(const WaitingLine::Where& where) {
  last_ = where.place();
  if (!refused_.contains(where.demand())) decide(where.demand(), where.place().key);
}

std::optional<Verdict> QueuePlan::verdict(const WaitingLine::Where& where) const {
  if (const auto got = granted_.find(where.place().key); got != granted_.end()) return got->second;
  const auto refusal = refused_.find(where.demand());
  if (refusal == refused_.end() || is_last(where.place())) return std::nullopt;
  return refusal->second.first == where.place().key ? refusal->second.to_first : refusal->second.to_others;
}

bool QueuePlan::gave(const PoolNode& node) const {
  const auto index = index_of(node.name);
  return index < nodes_.size() && nodes_[index].given;
}

bool QueuePlan::decide(const Demand& demand, const api::ObjectKey& job) {
  if (const auto now = choose_now(demand)) {
    for (const auto* node : *now) nodes_[index_of(node->name)].given = true;
    granted_[job] = {references(*now), "", ""};
    grants_.push_back(job);
    return true;
  }
  auto to_first = why_not(demand);
  refused_[demand] = {job, std::move(to_first), why_not(demand)};  // the others are behind this one
  return false;
}

std::optional<QueuePlan::Nodes> QueuePlan::choose(const Demand& demand, const Nodes& candidates) const {
  return choose_nodes_of(pool_->spec.gpus, candidates, demand.workers, demand.gpus_per_worker);
}

std::size_t QueuePlan::index_of(const std::string& name) const {
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), name,
      [](const Candidate& candidate, const std::string& wanted) { return candidate.node->name < wanted; });
  const bool known = found != nodes_.end() && found->node->name == name;
  return known ? static_cast<std::size_t>(found - nodes_.begin()) : nodes_.size();
}

std::vector<const Candidate*> QueuePlan::usable(const Demand& demand, bool free_only) const {
  std::vector<const Candidate*> found;
  for (const auto& candidate : nodes_) {
    if (candidate.fits && (candidate.free() || !free_only) && usable_for(*candidate.node, demand))
      found.push_back(&candidate);
  }
  return found;
}

QueuePlan::Nodes QueuePlan::named(const Demand& demand) const {
  Nodes nodes;
  for (const auto& name : demand.nodes) {
    if (const auto index = index_of(name); index < nodes_.size()) nodes.push_back(nodes_[index].node);
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return nodes;
}

std::optional<QueuePlan::Nodes> QueuePlan::choose_now(const Demand& demand) {
  if (!demand.nodes.empty()) return choose_named(demand);
  auto supply = supplies_.find(demand);
  if (supply == supplies_.end())
    supply = supplies_.try_emplace(demand, pool_->spec.gpus, usable(demand, true), demand).first;
  auto chosen = supply->second.next();
  if (!chosen) supplies_.erase(supply);  // what is given or kept only grows
  return chosen;
}

std::optional<QueuePlan::Nodes> QueuePlan::choose_named(const Demand& demand) const {
  if (problem_of_named(demand)) return std::nullopt;
  auto nodes = named(demand);
  const bool free = std::all_of(nodes.begin(), nodes.end(),
                                [&](const auto* node) { return nodes_[index_of(node->name)].free(); });
  return free ? std::optional(std::move(nodes)) : std::nullopt;
}

Verdict QueuePlan::why_not(const Demand& demand) {
  if (!demand.nodes.empty()) {
    if (auto problem = problem_of_named(demand)) return *std::move(problem);
    return wait(demand, named(demand));
  }
  Nodes possible;
  for (const auto* candidate : usable(demand, false)) possible.push_back(candidate->node);
  return choose(demand, possible) ? wait(demand, possible) : never(demand);
}

// The job could run if others gave back: nobody behind it may take what it waits for.
Verdict QueuePlan::wait(const Demand& demand, const Nodes& wanted) {
  bool behind = false;
  auto candidate = nodes_.begin();
  for (const auto* node : wanted) {  // in order of name, as they are
    while (candidate->node != node) ++candidate;
    behind = behind || candidate->kept;  // free or not: that changes with every job that ends
    candidate->kept = true;
  }
  return wait_in_line(pool_->metadata.name, "nodes for " + demand.text(), behind);
}

// Not even if all gave back.
Verdict QueuePlan::never(const Demand& demand) const {
  const auto& pool = pool_->metadata.name;
  Nodes fitting;
  for (const auto& candidate : nodes_) {
    if (candidate.fits) fitting.push_back(candidate.node);
  }
  if (fitting.empty() && !nodes_.empty()) {
    return {{},
            reason::kNoMatchingModel,
            "no node of pool " + pool + " has GPUs as spec.gpus of the pool asks for"};
  }
  if (choose(demand, fitting)) {
    return {{},
            reason::kWaitingForNodes,
            "pool " + pool + " could hold " + demand.text() +
                " only with nodes that are not ready, cordoned or tainted now"};
  }
  const bool mixed = pool_->spec.gpus.homogeneous &&
                     choose_nodes(fitting, demand.workers, demand.gpus_per_worker).has_value();
  return {{},
          mixed ? reason::kNoMatchingModel : reason::kTooLarge,
          "pool " + pool + (mixed ? " has no single GPU model for " : " is too small for ") + demand.text()};
}

std::optional<Verdict> QueuePlan::problem_of_named(const Demand& demand) const {
  const auto all_usable = [&](const Nodes& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](const auto* node) { return usable_for(*node, demand); });
  };
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
  }
  const auto nodes = named(demand);
  if (!choose_nodes(nodes, demand.workers, demand.gpus_per_worker)) {
    return Verdict{{}, reason::kTooLarge, "the nodes of spec.nodes are too small for " + demand.text()};
  }
  if (pool_->spec.gpus.homogeneous && std::any_of(nodes.begin(), nodes.end(), [&](const PoolNode* node) {
        return node->model != nodes[0]->model;
      })) {
    return Verdict{{}, reason::kNoMatchingModel, "the nodes of spec.nodes have different GPU models"};
  }
  if (!all_usable(nodes)) {
    return Verdict{{}, reason::kWaitingForNodes, "a node of spec.nodes is not ready, cordoned or tainted"};
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
