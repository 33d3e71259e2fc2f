// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/slice_plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "api/v1alpha1/reasons.h"
#include "planning/nodes/node_needs.h"
#include "planning/queue/unmet_needs.h"
#include "planning/slices/choose_slices.h"
#include "planning/slices/free_slices.h"
#include "planning/slices/slice_size.h"

namespace gpupool::planning {
namespace {

using Nodes = std::vector<const SharedNode*>;
namespace reason = api::reason;

// What one job asks of a sharing pool.
struct SliceDemand {
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

}  // namespace

// One pass over the queue of a sharing pool, with the steps of QueuePlan: grant, else reserve, else refuse.
class SlicePass {
 public:
  SlicePass(const api::GpuPool& pool, std::vector<SharedNode> nodes)
      : pool_(pool), one_model_(pool.spec.gpus.homogeneous), nodes_(std::move(nodes)) {
    for (const auto& node : nodes_) {
      empty_.push_back(emptied(node, false));
      sound_.push_back(emptied(node, true));
    }
  }

  const std::string& pool() const { return pool_.metadata.name; }

  Verdict decide(const WaitingLine::Entry& entry) {
    const auto& job = *entry.job();
    SliceDemand demand{job, need_of(job.spec, pool_.spec.rents_gpus()), api::worker_count(job.spec),
                       entry.demand().needs, entry.demand()};
    demand.need.requests = demand.needs.requests;
    return job.spec.nodes.empty() ? decide_any(demand) : decide_named(demand);
  }

  // Of a verdict that gives slices: whether the job may have them. If not, it gets a verdict without nodes or
  // a reason.
  std::function<bool(const Verdict& verdict)> accept = [](const Verdict&) { return true; };
  bool keeps = true;  // slices for jobs that wait

 private:
  static bool open_to(const SharedNode& node, const SliceDemand& demand) {
    return node.node.takes_jobs() && node.marked && !node.node.leased &&
           tolerates(demand.needs.tolerations, node.node.foreign_taints);
  }

  Nodes usable(const std::vector<SharedNode>& nodes) const {
    Nodes kept;
    for (const auto& node : nodes) {
      if (node.unusable.empty()) kept.push_back(&node);
    }
    return kept;
  }

  static Nodes open_nodes(const Nodes& nodes, const SliceDemand& demand) {
    Nodes kept;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(kept),
                 [&](const SharedNode* node) { return open_to(*node, demand); });
    return kept;
  }

  static Nodes suitable(Nodes nodes, const SliceDemand& demand) {
    std::erase_if(nodes, [&](const SharedNode* node) { return !suits(node->node, demand.needs); });
    return nodes;
  }

  static std::vector<const PoolNode*> inner(const Nodes& nodes) {
    std::vector<const PoolNode*> all(nodes.size());
    std::ranges::transform(nodes, all.begin(), [](const SharedNode* node) { return &node->node; });
    return all;
  }

  Nodes unclaimed(Nodes nodes) const {
    std::erase_if(nodes, [&](const SharedNode* node) { return kept_for_others_.contains(node->node.name); });
    return nodes;
  }

  Verdict grant(const SliceDemand& demand, const SlicePlacement& placement) {
    Verdict verdict{placement.nodes, "", "", placement.slices,
                    demand.need.single_gpus > 0 ? api::sharing_unit::kGpu : ""};
    if (!accept(verdict)) return {};
    const auto each = taken_by_worker(demand.need.requests);
    for (const auto& ref : placement.nodes) {
      const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                      [&](const SharedNode& node) { return node.node.name == ref.name; });
      for (std::int64_t i = 0; i < ref.workers; ++i) {
        add_claim(*found, placement.slices);
        found->requested += each;
      }
    }
    return verdict;
  }

  // The job could run if other jobs gave back slices: reserves the nodes that it waits for.
  Verdict wait(const SliceDemand& demand, const Nodes& wanted) {
    const bool behind = unclaimed(wanted).size() < wanted.size();
    for (const auto* node : wanted) {
      if (keeps) kept_for_others_.insert(node->node.name);
    }
    auto verdict = wait_in_line(
        pool_.metadata.name, (pool_.spec.rents_gpus() ? "GPUs for " : "slices for ") + demand.text(), behind);
    verdict.waits = true;
    return verdict;
  }

  // Those in groups with room for the whole job, if it needs one group.
  Nodes in_large_groups(const Nodes& nodes, const SliceDemand& demand) const {
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

  Verdict decide_any(const SliceDemand& demand) {
    const auto choose = [&](const Nodes& nodes) {
      return choose_slices(nodes, demand.need, demand.workers, one_model_, demand.line.near);
    };
    auto all = usable(nodes_);
    if (all.empty() && !nodes_.empty()) {
      return {{},
              reason::kWaitingForNodes,
              "pool " + pool_.metadata.name + " has no GPU that can be shared now; see its status.excluded"};
    }
    const auto open = open_nodes(suitable(std::move(all), demand), demand);
    if (!demand.line.avoided.empty()) {
      auto others = unclaimed(open);
      std::erase_if(others, [&](const SharedNode* each) { return demand.line.avoids(each->node.name); });
      if (const auto now = choose(others)) return grant(demand, *now);
    }
    if (const auto now = choose(unclaimed(open))) return grant(demand, *now);
    const auto possible = open_nodes(suitable(usable(empty_), demand), demand);
    if (choose(possible)) return wait(demand, in_large_groups(possible, demand));
    auto sound = usable(sound_);
    if (auto unmet = unmet_by_all(pool_.metadata.name, inner(sound), demand.needs)) return *std::move(unmet);
    sound = suitable(std::move(sound), demand);
    if (choose(sound)) {
      return {
          {},
          reason::kWaitingForNodes,
          "pool " + pool_.metadata.name + " could hold " + demand.text() +
              " only with nodes that are not ready, cordoned, drained, tainted or not yet marked, or with " +
              (pool_.spec.rents_gpus() ? "GPUs that pods of others hold" : "unhealthy GPUs")};
    }
    const auto& pool = pool_.metadata.name;
    if (one_model_ && choose_slices(sound, demand.need, demand.workers, false, demand.line.near))
      return {{}, reason::kNoMatchingModel, "pool " + pool + " has no single GPU model for " + demand.text()};
    const bool for_one = choose_slices(sound, demand.need, 1, false).has_value();
    return {{},
            reason::kTooLarge,
            "pool " + pool + " is too small for " + demand.text() + (demand.needs.narrow() ? kAsAsked : "") +
                (for_one ? "" : largest(sound, pool_.spec.rents_gpus()))};
  }

  // What a single worker that fits nowhere may be compared with.
  static std::string largest(const Nodes& nodes, bool rents_gpus) {
    const SharedGpu* most = nullptr;
    for (const auto* node : nodes) {
      for (const auto& gpu : node->gpus) {
        const bool more = most != nullptr && (rents_gpus ? gpu.size.count > most->size.count
                                                         : gpu.memory_mib > most->memory_mib);
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

  Verdict decide_named(const SliceDemand& demand) {
    Nodes named;
    Nodes empty;
    Nodes sound;
    for (const auto& name : demand.job.spec.nodes) {
      const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                      [&](const SharedNode& node) { return node.node.name == name; });
      if (found == nodes_.end()) {
        return {
            {}, reason::kNoSuchNode, "node " + name + " of spec.nodes is not in pool " + pool_.metadata.name};
      }
      if (!found->unusable.empty()) {
        return {{}, reason::kWaitingForNodes, "node " + name + " of spec.nodes: " + found->unusable};
      }
      if (auto unmet = unmet_by_named(found->node, demand.needs)) return *std::move(unmet);
      named.push_back(&*found);
      empty.push_back(&empty_[static_cast<std::size_t>(found - nodes_.begin())]);
      sound.push_back(&sound_[static_cast<std::size_t>(found - nodes_.begin())]);
    }
    const auto place = [&](const Nodes& nodes) {
      return place_slices(nodes, demand.need, demand.workers, one_model_);
    };
    if (!place(sound)) {
      return {{},
              reason::kTooLarge,
              "the nodes of spec.nodes are too small, or too different, for " + demand.text()};
    }
    if (open_nodes(named, demand).size() < named.size() || !place(empty)) {
      return {{},
              reason::kWaitingForNodes,
              std::string("a node of spec.nodes is not ready, cordoned, drained or tainted, or ") +
                  (pool_.spec.rents_gpus() ? "pods of others hold its GPUs" : "has an unhealthy GPU")};
    }
    const auto now = place(named);
    if (now && unclaimed(named).size() == named.size()) return grant(demand, *now);
    return wait(demand, named);
  }

  const api::GpuPool& pool_;
  bool one_model_;
  std::vector<SharedNode> nodes_;
  std::vector<SharedNode> empty_;  // the same nodes without pods and claims
  std::vector<SharedNode> sound_;  // like empty_, with all GPUs healthy
  std::set<std::string> kept_for_others_;
};

SlicePlan::SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line)
    : pass_(std::make_unique<SlicePass>(pool, std::move(nodes))) {
  for (const auto& job : line.in_order()) append(*line.find(job->metadata.key()));
}

// One pass over the queue of a sharing pool with spec.queue. Like TurnPlan, without backfill: what is kept
// for the first in line is kept from all others.
class SliceTurns {
 public:
  SliceTurns(SlicePass& pass, const api::GpuPool& pool, const WaitingLine& line,
             const SlicePlan::Turns& turns)
      : pass_(pass),
        line_(line),
        turns_(turns),
        order_(*pool.spec.queue, line, turns.shares, turns.now, true) {}

  std::map<api::ObjectKey, Verdict> run() {
    bool placed = false;
    while (const auto candidate = order_.next()) {
      if (!placed && !candidate->within_guarantee) {
        placed = true;
        place_first();
      }
      decide(*candidate);
    }
    return std::move(verdicts_);
  }

 private:
  // most: what the tenant may hold with the job.
  Verdict ask(const WaitingLine::Entry& entry, const std::optional<MilliGpus>& most) {
    const auto& share = order_.share(entry.demand().turn.tenant);
    too_much_ = false;
    pass_.accept = [this, &share, most](const Verdict& verdict) {
      amount_ = turns_.amount(verdict);
      too_much_ = most && share.held + amount_ > *most;
      return !too_much_;
    };
    return pass_.decide(entry);
  }

  void place_first() {
    const auto* entry = first_told(line_);
    if (entry == nullptr || verdicts_.contains(entry->position().key)) return;
    const auto& share = order_.share(entry->demand().turn.tenant);
    if (share.tenant.refused) return;
    auto verdict = ask(*entry, share.tenant.limit);
    if (too_much_ || (verdict.nodes.empty() && !verdict.waits)) return;
    if (!verdict.nodes.empty()) order_.add_held(share.tenant.name, amount_);
    answer(*entry, std::move(verdict));
  }

  void decide(const TurnOrder::Candidate& candidate) {
    const auto& demand = *candidate.demand;
    const auto& job = **candidate.job;
    const auto known = verdicts_.find(job.metadata.key());
    if (known != verdicts_.end() && !known->second.nodes.empty()) return order_.skip();
    const auto& share = order_.share(demand.turn.tenant);
    const auto& entry = *line_.find(job.metadata.key());
    auto verdict = refused_tenant(pass_.pool(), job.metadata.ns);
    if (!share.tenant.refused) {
      verdict = ask(entry,
                    candidate.within_guarantee ? std::optional(share.tenant.guaranteed) : share.tenant.limit);
      if (too_much_ && candidate.within_guarantee) return order_.refuse_guarantee();
      if (too_much_) verdict = over_limit(pass_.pool(), share.tenant, demand.text());
    }
    if (!verdict.nodes.empty()) {
      answer(entry, std::move(verdict));
      return order_.grant(amount_);
    }
    for (const auto& [position, other] : line_.groups().at(demand)) {
      if (!verdicts_.contains(position.key)) answer(*line_.find(position.key), verdict);
    }
    order_.refuse();
  }

  void answer(const WaitingLine::Entry& entry, Verdict verdict) {
    verdict.turn = api::JobQueueStatus{entry.demand().turn.tenant, {}, {}};
    if (verdict.waits && pass_.keeps) {
      pass_.keeps = false;
      const auto& progress = entry.job()->status.progress;
      const auto since = progress && progress->queue ? progress->queue->reserved_since : std::nullopt;
      verdict.turn->reserved_since = since.value_or(turns_.now);
      verdict.reason = reason::kFirstInLine;
      verdict.message = "first in line: " + verdict.message;
    } else if (verdict.waits) {
      verdict.reason = reason::kWaitingForTurn;
    }
    verdicts_[entry.position().key] = std::move(verdict);
  }

  SlicePass& pass_;
  const WaitingLine& line_;
  const SlicePlan::Turns& turns_;
  TurnOrder order_;
  std::map<api::ObjectKey, Verdict> verdicts_;
  MilliGpus amount_ = 0;
  bool too_much_ = false;
};

SlicePlan::SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line,
                     const Turns& turns)
    : by_turns_(true), pass_(std::make_unique<SlicePass>(pool, std::move(nodes))) {
  verdicts_ = SliceTurns(*pass_, pool, line, turns).run();
}

SlicePlan::~SlicePlan() = default;

void SlicePlan::append(const WaitingLine::Entry& entry) {
  positions_.insert(positions_.end(), entry.position());
  verdicts_[entry.position().key] = pass_->decide(entry);
}

bool SlicePlan::leave(const QueuePosition& position) {
  const bool first = !positions_.empty() && *positions_.begin() == position;
  positions_.erase(position);
  verdicts_.erase(position.key);
  return first || by_turns_;
}

std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const WaitingLine& line) {
  return SlicePlan(pool, std::move(nodes), line).verdicts();
}

}  // namespace gpupool::planning
