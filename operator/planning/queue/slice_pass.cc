// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/slice_pass.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/nodes/node_needs.h"
#include "planning/queue/unmet_needs.h"
#include "planning/slices/free_slices.h"
#include "planning/slices/slice_size.h"

namespace gpupool::planning {
namespace reason = api::reason;

// What one job asks of the pool.
struct SlicePass::Demanded {
  const api::GpuJob& job;
  SliceNeed need;
  std::int64_t workers;
  const NodeNeeds& needs;
  const Demand& line;

  std::string text() const {
    return std::to_string(workers) + (workers == 1 ? " worker with " : " workers with ") + need.text() +
           (workers == 1 ? "" : " each") + near_text(line.near);
  }
};

namespace {

SlicePass::Nodes usable(const std::vector<SharedNode>& nodes) {
  SlicePass::Nodes kept;
  for (const auto& node : nodes) {
    if (node.unusable.empty()) kept.push_back(&node);
  }
  return kept;
}

bool open_to(const SharedNode& node, const NodeNeeds& needs) {
  return node.node.takes_jobs() && node.marked && !node.node.leased &&
         tolerates(needs.tolerations, node.node.foreign_taints);
}

SlicePass::Nodes open_nodes(const SlicePass::Nodes& nodes, const NodeNeeds& needs) {
  SlicePass::Nodes kept;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(kept),
               [&](const SharedNode* node) { return open_to(*node, needs); });
  return kept;
}

SlicePass::Nodes suitable(SlicePass::Nodes nodes, const NodeNeeds& needs) {
  std::erase_if(nodes, [&](const SharedNode* node) { return !suits(node->node, needs); });
  return nodes;
}

std::vector<const PoolNode*> inner(const SlicePass::Nodes& nodes) {
  std::vector<const PoolNode*> all(nodes.size());
  std::ranges::transform(nodes, all.begin(), [](const SharedNode* node) { return &node->node; });
  return all;
}

// What a single worker that fits nowhere may be compared with.
std::string largest(const SlicePass::Nodes& nodes, bool rents_gpus) {
  const SharedGpu* most = nullptr;
  for (const auto* node : nodes) {
    for (const auto& gpu : node->gpus) {
      const bool more = most != nullptr &&
                        (rents_gpus ? gpu.size.count > most->size.count : gpu.memory_mib > most->memory_mib);
      if (most == nullptr || more) most = &gpu;
    }
  }
  if (most == nullptr) return ": it has no nodes";
  const auto& size = most->size;
  if (rents_gpus)
    return ": the largest node has " + std::to_string(size.count) + (size.count == 1 ? " GPU" : " GPUs");
  return ": the largest GPU has " + std::to_string(size.count) +
         (size.count == 1 ? " slice of " : " slices of ") + std::to_string(size.memory_mib) + " MiB and " +
         std::to_string(size.cores) + " % cores";
}

}  // namespace

SlicePass::SlicePass(const api::GpuPool& pool, std::vector<SharedNode> nodes)
    : pool_(pool), one_model_(pool.spec.gpus.homogeneous), nodes_(std::move(nodes)) {
  empty_.reserve(nodes_.size());
  sound_.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    empty_.push_back(emptied(node, false));
    sound_.push_back(emptied(node, true));
  }
}

SlicePass::Demanded SlicePass::demanded(const WaitingLine::Entry& entry) const {
  const auto& job = *entry.job();
  Demanded demand{job, need_of(job.spec, pool_.spec.rents_gpus()), api::worker_count(job.spec),
                  entry.demand().needs, entry.demand()};
  demand.need.requests = demand.needs.requests;
  return demand;
}

Verdict SlicePass::decide(const WaitingLine::Entry& entry) {
  const auto demand = demanded(entry);
  return demand.job.spec.nodes.empty() ? decide_any(demand) : decide_named(demand);
}

std::size_t SlicePass::index_of(const std::string& node) const {
  const auto found = std::ranges::find_if(nodes_, [&](const auto& each) { return each.node.name == node; });
  return static_cast<std::size_t>(found - nodes_.begin());
}

SlicePass::Nodes SlicePass::unclaimed(Nodes nodes) const {
  std::erase_if(nodes, [&](const SharedNode* node) { return is_kept(*node); });
  return nodes;
}

std::optional<SlicePlacement> SlicePass::choose(const Demanded& demand, const Nodes& nodes) const {
  return choose_slices(nodes, demand.need, demand.workers, one_model_, demand.line.near);
}

Verdict SlicePass::placed(const Demanded& demand, const SlicePlacement& placement) const {
  return {placement.nodes, "", "", placement.slices,
          demand.need.single_gpus > 0 ? api::sharing_unit::kGpu : ""};
}

Verdict SlicePass::grant(const Demanded& demand, const SlicePlacement& placement) {
  auto verdict = placed(demand, placement);
  if (!accept(verdict)) return {};
  take(demand, verdict);
  return verdict;
}

void SlicePass::take(const Demanded& demand, const Verdict& verdict) {
  const auto each = taken_by_worker(demand.need.requests);
  for (const auto& ref : verdict.nodes) {
    const auto index = index_of(ref.name);
    const Granted granted{ref.workers, verdict.slices, each};
    if (notes_grants) granted_[index].push_back(granted);
    for (std::int64_t i = 0; i < granted.workers; ++i) {
      add_claim(nodes_[index], granted.slices);
      nodes_[index].requested += granted.each;
    }
  }
}

void SlicePass::give(const WaitingLine::Entry& entry, const Verdict& verdict) {
  take(demanded(entry), verdict);
}

void SlicePass::add_grants(std::size_t index, SharedNode& node) const {
  const auto granted = granted_.find(index);
  if (granted == granted_.end()) return;
  for (const auto& each : granted->second) {
    for (std::int64_t i = 0; i < each.workers; ++i) {
      add_claim(node, each.slices);
      node.requested += each.each;
    }
  }
}

std::vector<SlicePass::Room> SlicePass::rooms(const WaitingLine::Entry& entry) const {
  const auto demand = demanded(entry);
  const auto& named = demand.job.spec.nodes;
  std::vector<Room> rooms(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto& node = nodes_[i];
    const bool asked = named.empty() || std::ranges::find(named, node.node.name) != named.end();
    if (!asked || !node.unusable.empty() || is_kept(node) || !open_to(node, demand.needs) ||
        !suits(node.node, demand.needs))
      continue;
    rooms[i] = {room_on(node, demand.need), room_on(empty_[i], demand.need)};
  }
  return rooms;
}

std::optional<Verdict> SlicePass::answer_on(const WaitingLine::Entry& entry, const Nodes& nodes) const {
  const auto demand = demanded(entry);
  const auto& named = demand.job.spec.nodes;
  Nodes candidates;
  if (named.empty()) {
    for (const auto* node : nodes) {
      if (node != nullptr && node->unusable.empty()) candidates.push_back(node);
    }
    candidates = unclaimed(open_nodes(suitable(std::move(candidates), demand.needs), demand.needs));
  }
  for (const auto& name : named) {
    const auto index = index_of(name);
    if (index == nodes_.size() || nodes[index] == nullptr || is_kept(*nodes[index]) ||
        !open_to(*nodes[index], demand.needs))
      return std::nullopt;
    candidates.push_back(nodes[index]);
  }
  const auto placement = named.empty() ? choose(demand, candidates)
                                       : place_slices(candidates, demand.need, demand.workers, one_model_);
  if (!placement) return std::nullopt;
  return placed(demand, *placement);
}

// The job could run if other jobs gave back slices on these nodes.
Verdict SlicePass::wait(const Demanded& demand, const Nodes& wanted) {
  const bool behind = unclaimed(wanted).size() < wanted.size();
  wanted_.clear();
  for (const auto* node : wanted) wanted_.push_back(node->node.name);
  auto verdict = wait_in_line(
      pool_.metadata.name, (pool_.spec.rents_gpus() ? "GPUs for " : "slices for ") + demand.text(), behind);
  verdict.waits = true;
  return verdict;
}

void SlicePass::keep() { kept_for_others_.insert(wanted_.begin(), wanted_.end()); }

// Those in groups with room for the whole job, if it needs one group.
SlicePass::Nodes SlicePass::in_large_groups(const Nodes& nodes, const Demanded& demand) const {
  const auto& near = demand.line.near;
  if (!near.required) return nodes;
  Nodes large;
  for (const auto& group : far_groups(near, inner(nodes))) {
    Nodes of_group;
    for (const auto index : group) of_group.push_back(nodes[index]);
    if (choose_slices(of_group, demand.need, demand.workers, one_model_))
      large.insert(large.end(), of_group.begin(), of_group.end());
  }
  return large;
}

Verdict SlicePass::decide_any(const Demanded& demand) {
  auto all = usable(nodes_);
  if (all.empty() && !nodes_.empty()) {
    return {{},
            reason::kWaitingForNodes,
            "pool " + pool_.metadata.name + " has no GPU that can be shared now; see its status.excluded"};
  }
  const auto open = open_nodes(suitable(std::move(all), demand.needs), demand.needs);
  if (!demand.line.avoided.empty()) {
    auto others = unclaimed(open);
    std::erase_if(others, [&](const SharedNode* each) { return demand.line.avoids(each->node.name); });
    if (const auto now = choose(demand, others)) return grant(demand, *now);
  }
  if (const auto now = choose(demand, unclaimed(open))) return grant(demand, *now);
  const auto possible = open_nodes(suitable(usable(empty_), demand.needs), demand.needs);
  const auto in_time = choose(demand, possible);
  if (!in_time) return why_not(demand);
  if (!accept(placed(demand, *in_time))) return {};
  return wait(demand, in_large_groups(possible, demand));
}

// Why the job gets nothing even of an empty pool.
Verdict SlicePass::why_not(const Demanded& demand) const {
  auto sound = usable(sound_);
  if (auto unmet = unmet_by_all(pool_.metadata.name, inner(sound), demand.needs)) return *std::move(unmet);
  sound = suitable(std::move(sound), demand.needs);
  const auto& pool = pool_.metadata.name;
  if (choose(demand, sound)) {
    return {
        {},
        reason::kWaitingForNodes,
        "pool " + pool + " could hold " + demand.text() +
            " only with nodes that are not ready, cordoned, drained, tainted or not yet marked, or with " +
            (pool_.spec.rents_gpus() ? "GPUs that pods of others hold" : "unhealthy GPUs")};
  }
  if (one_model_ && choose_slices(sound, demand.need, demand.workers, false, demand.line.near))
    return {{}, reason::kNoMatchingModel, "pool " + pool + " has no single GPU model for " + demand.text()};
  const bool for_one = choose_slices(sound, demand.need, 1, false).has_value();
  return {{},
          reason::kTooLarge,
          "pool " + pool + " is too small for " + demand.text() + (demand.needs.narrow() ? kAsAsked : "") +
              (for_one ? "" : largest(sound, pool_.spec.rents_gpus()))};
}

Verdict SlicePass::decide_named(const Demanded& demand) {
  Nodes named;
  Nodes empty;
  Nodes sound;
  for (const auto& name : demand.job.spec.nodes) {
    const auto index = index_of(name);
    if (index == nodes_.size()) {
      return {
          {}, reason::kNoSuchNode, "node " + name + " of spec.nodes is not in pool " + pool_.metadata.name};
    }
    const auto& found = nodes_[index];
    if (!found.unusable.empty())
      return {{}, reason::kWaitingForNodes, "node " + name + " of spec.nodes: " + found.unusable};
    if (auto unmet = unmet_by_named(found.node, demand.needs)) return *std::move(unmet);
    named.push_back(&found);
    empty.push_back(&empty_[index]);
    sound.push_back(&sound_[index]);
  }
  const auto place = [&](const Nodes& nodes) {
    return place_slices(nodes, demand.need, demand.workers, one_model_);
  };
  if (!place(sound)) {
    return {{},
            reason::kTooLarge,
            "the nodes of spec.nodes are too small, or too different, for " + demand.text()};
  }
  const auto in_time = place(empty);
  if (open_nodes(named, demand.needs).size() < named.size() || !in_time) {
    return {{},
            reason::kWaitingForNodes,
            std::string("a node of spec.nodes is not ready, cordoned, drained or tainted, or ") +
                (pool_.spec.rents_gpus() ? "pods of others hold its GPUs" : "has an unhealthy GPU")};
  }
  const auto now = place(named);
  if (now && unclaimed(named).size() == named.size()) return grant(demand, *now);
  if (!accept(placed(demand, *in_time))) return {};
  return wait(demand, named);
}

}  // namespace gpupool::planning
