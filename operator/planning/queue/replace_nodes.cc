// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/replace_nodes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "planning/nodes/near_groups.h"
#include "planning/queue/node_picker.h"
#include "planning/queue/spare_nodes.h"

namespace gpupool::planning {
namespace {

using FreeNodes = std::vector<const PoolNode*>;
using Candidates = std::vector<const Candidate*>;

// Leaves the candidates that have the same value of the label as one of the nodes.
Candidates beside(const FreeNodes& nodes, Candidates candidates, const std::string& label) {
  std::set<std::string> values;
  for (const auto* node : nodes) {
    if (const auto found = node->labels().find(label); found != node->labels().end())
      values.insert(found->second);
  }
  std::erase_if(candidates, [&](const Candidate* each) {
    const auto found = each->node->labels().find(label);
    return found == each->node->labels().end() || !values.contains(found->second);
  });
  return candidates;
}

// A job that goes on without some of its nodes.
class Replacement {
 public:
  Replacement(const api::GpuPool& pool, const std::vector<PoolNode>& nodes, const api::GpuJob& job)
      : pool_(pool),
        nodes_(nodes),
        job_(job),
        needs_(needs_of(job.spec, pool.spec.worker_resource())),
        each_(api::gpus_of_each_worker(job.spec)),
        workers_(api::worker_count(job.spec)) {}

  // False if one of the nodes is not known.
  bool keep(const std::vector<std::string>& kept) {
    for (const auto& node : nodes_) {
      if (std::ranges::find(kept, node.name) != kept.end()) take(node);
    }
    return chosen_.size() == kept.size();
  }

  bool add_any() {
    auto free = free_nodes();
    const auto near = near_of(job_.spec, pool_.spec.near);
    Candidates candidates;
    for (const auto& each : free) candidates.push_back(&each);
    const auto choose = [&](const Candidates& from, NodePicker::Of of) {
      return NodePicker(pool_.spec.gpus, from, workers_, each_, needs_, of, near).next();
    };
    const auto choose_spares_last = [&](const Candidates& from) {
      auto more = choose(from, NodePicker::Of::kFree);
      return more ? more : choose(from, NodePicker::Of::kAll);
    };
    std::optional<FreeNodes> more;
    for (const auto& label : near.labels) {
      if (!more && !chosen_.empty()) more = choose_spares_last(beside(chosen_, candidates, label));
    }
    if (!more && (chosen_.empty() || !near.required)) more = choose_spares_last(candidates);
    if (!more) return false;
    for (const auto* node : *more) take(*node);
    return true;
  }

  // Adds named nodes in this order until there is room for all workers.
  bool add_of(const std::vector<std::string>& names) {
    const auto free = free_nodes();
    for (const auto& name : names) {
      const auto found = std::ranges::find(free, name, [](const Candidate& each) { return each.node->name; });
      const bool fits = found != free.end() && is_of_one_model(*found->node) && slots_of(*found->node) > 0;
      if (workers_ > 0 && fits && !is_chosen(*found->node)) take(*found->node);
    }
    return workers_ <= 0;
  }

  bool complete() const { return workers_ <= 0; }
  const FreeNodes& chosen() const { return chosen_; }

 private:
  std::int64_t slots_of(const PoolNode& node) const { return worker_slots(node, each_, needs_); }
  bool is_chosen(const PoolNode& node) const { return std::ranges::find(chosen_, &node) != chosen_.end(); }
  bool is_of_one_model(const PoolNode& node) const {
    return !pool_.spec.gpus.homogeneous || chosen_.empty() || node.model == chosen_[0]->model;
  }

  void take(const PoolNode& node) {
    chosen_.push_back(&node);
    workers_ -= slots_of(node);
  }

  // The nodes that could be added, and which of them are spares.
  std::vector<Candidate> free_nodes() const {
    std::vector<Candidate> all;
    for (const auto& node : nodes_) {
      if (!node.leased && may_be_spare(node, pool_.spec.gpus)) all.push_back({&node});
    }
    mark_spares(all, count_of_spares(pool_));
    std::erase_if(all, [&](const Candidate& each) {
      return !tolerates(needs_.tolerations, each.node->foreign_taints) || !is_of_one_model(*each.node);
    });
    return all;
  }

  const api::GpuPool& pool_;
  const std::vector<PoolNode>& nodes_;
  const api::GpuJob& job_;
  NodeNeeds needs_;
  std::int64_t each_;     // GPUs of a worker
  std::int64_t workers_;  // without a node so far
  FreeNodes chosen_;
};

// In the order in which a job with spec.nodes takes them; it may return to one that it has left.
std::vector<std::string> allowed_nodes(const api::GpuJobSpec& spec) {
  auto all = spec.nodes;
  all.insert(all.end(), spec.backup_nodes->begin(), spec.backup_nodes->end());
  return all;
}

}  // namespace

std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept) {
  const auto& spec = job.spec;
  if (!spec.nodes.empty() && (!spec.backup_nodes || spec.backup_nodes->empty()))
    return {};  // no other node is allowed
  Replacement replacement(pool, nodes, job);
  if (!replacement.keep(kept)) return {};
  if (!replacement.complete()) {
    const bool added = spec.nodes.empty() ? replacement.add_any() : replacement.add_of(allowed_nodes(spec));
    if (!added) return {};
  }
  return references(replacement.chosen());
}

}  // namespace gpupool::planning
