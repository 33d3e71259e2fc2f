#include "planning/queue_plan.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

bool usable_for(const PoolNode& node, const Demand& demand) {
  return node.usable() && tolerates(demand.tolerations, node.foreign_taints);
}

// All of them together.
bool have_room(const std::vector<const Candidate*>& nodes, const Demand& demand) {
  std::int64_t slots = 0;
  for (const auto* candidate : nodes) slots += worker_slots(*candidate->node, demand.gpus_per_worker);
  return slots >= demand.workers;
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
  if (const auto wanted = possible(demand)) {
    auto to_first = wait(demand, *wanted);
    refused_[demand] = {job, std::move(to_first), wait(demand, *wanted)};  // the others are behind this one
  } else {
    refused_[demand] = {job, wanted.error(), wanted.error()};
  }
  return false;
}

std::size_t QueuePlan::index_of(const std::string& name) const {
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), name,
      [](const Candidate& candidate, const std::string& wanted) { return candidate.node->name < wanted; });
  const bool known = found != nodes_.end() && found->node->name == name;
  return known ? static_cast<std::size_t>(found - nodes_.begin()) : nodes_.size();
}

QueuePlan::Candidates QueuePlan::usable(const Demand& demand, Supply::Of of) const {
  Candidates found;
  for (const auto& candidate : nodes_) {
    const bool had = of == Supply::Of::kAll || candidate.free();
    if (candidate.fits && had && usable_for(*candidate.node, demand)) found.push_back(&candidate);
  }
  return found;
}

Supply QueuePlan::supply(const Demand& demand, const Candidates& candidates, Supply::Of of) const {
  return {pool_->spec.gpus, candidates, demand.workers, demand.gpus_per_worker, of};
}

QueuePlan::Candidates QueuePlan::named(const Demand& demand) const {
  Candidates found;
  for (const auto& name : demand.nodes) {
    if (const auto index = index_of(name); index < nodes_.size()) found.push_back(&nodes_[index]);
  }
  std::sort(found.begin(), found.end());  // they lie in order of name
  return found;
}

std::optional<QueuePlan::Nodes> QueuePlan::choose_now(const Demand& demand) {
  if (!demand.nodes.empty()) return choose_named(demand);
  auto known = supplies_.find(demand);
  if (known == supplies_.end()) {
    constexpr auto kOf = Supply::Of::kFree;
    known = supplies_.emplace(demand, supply(demand, usable(demand, kOf), kOf)).first;
  }
  auto chosen = known->second.next();
  if (!chosen) supplies_.erase(known);  // what is given or kept only grows
  return chosen;
}

std::optional<QueuePlan::Nodes> QueuePlan::choose_named(const Demand& demand) const {
  if (problem_of_named(demand)) return std::nullopt;
  Nodes nodes;
  for (const auto* candidate : named(demand)) {
    if (!candidate->free()) return std::nullopt;
    nodes.push_back(candidate->node);
  }
  return nodes;
}

tl::expected<QueuePlan::Candidates, Verdict> QueuePlan::possible(const Demand& demand) const {
  if (!demand.nodes.empty()) {
    if (auto problem = problem_of_named(demand)) return tl::unexpected(*std::move(problem));
    return named(demand);
  }
  auto candidates = usable(demand, Supply::Of::kAll);
  if (!supply(demand, candidates, Supply::Of::kAll).next()) return tl::unexpected(never(demand));
  return candidates;
}

// The job could run if others gave back: nobody behind it may take what it waits for.
Verdict QueuePlan::wait(const Demand& demand, const Candidates& wanted) {
  bool behind = false;
  for (const auto* candidate : wanted) {
    behind = behind || candidate->kept;  // free or not: that changes with every job that ends
    nodes_[static_cast<std::size_t>(candidate - nodes_.data())].kept = true;
  }
  return wait_in_line(pool_->metadata.name, "nodes for " + demand.text(), behind);
}

// Not even if all gave back.
Verdict QueuePlan::never(const Demand& demand) const {
  const auto& pool = pool_->metadata.name;
  Candidates fitting;
  for (const auto& candidate : nodes_) {
    if (candidate.fits) fitting.push_back(&candidate);
  }
  if (fitting.empty() && !nodes_.empty()) {
    return {{},
            reason::kNoMatchingModel,
            "no node of pool " + pool + " has GPUs as spec.gpus of the pool asks for"};
  }
  if (supply(demand, fitting, Supply::Of::kAll).next()) {
    return {{},
            reason::kWaitingForNodes,
            "pool " + pool + " could hold " + demand.text() +
                " only with nodes that are not ready, cordoned or tainted now"};
  }
  const bool mixed = pool_->spec.gpus.homogeneous && have_room(fitting, demand);
  return {{},
          mixed ? reason::kNoMatchingModel : reason::kTooLarge,
          "pool " + pool + (mixed ? " has no single GPU model for " : " is too small for ") + demand.text()};
}

std::optional<Verdict> QueuePlan::problem_of_named(const Demand& demand) const {
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
  if (!have_room(nodes, demand)) {
    return Verdict{{}, reason::kTooLarge, "the nodes of spec.nodes are too small for " + demand.text()};
  }
  if (pool_->spec.gpus.homogeneous && std::ranges::any_of(nodes, [&](const Candidate* other) {
        return other->node->model != nodes[0]->node->model;
      })) {
    return Verdict{{}, reason::kNoMatchingModel, "the nodes of spec.nodes have different GPU models"};
  }
  if (!std::ranges::all_of(nodes, [&](const auto* each) { return usable_for(*each->node, demand); })) {
    return Verdict{{}, reason::kWaitingForNodes, "a node of spec.nodes is not ready, cordoned or tainted"};
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
