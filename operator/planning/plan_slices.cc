#include "planning/plan_slices.h"

#include <algorithm>
#include <optional>
#include <set>

#include "api/v1alpha1/reasons.h"
#include "planning/choose_slices.h"
#include "planning/tolerations.h"

namespace gpupool::planning {
namespace {

using Nodes = std::vector<const SharedNode*>;
namespace reason = api::reason;

// What one job asks of a pool.
struct SliceDemand {
  const api::GpuJob& job;
  SliceNeed need;
  std::int64_t workers;
  Tolerations tolerations;

  std::string text() const {
    return std::to_string(workers) + (workers == 1 ? " worker with " : " workers with ") + need.text() +
           (workers == 1 ? "" : " each");
  }
};

}  // namespace

// One pass over a pool's queue.
class SlicePass {
 public:
  SlicePass(const api::GpuPool& pool, std::vector<SharedNode> nodes)
      : pool_(pool), one_model_(pool.spec.gpus.homogeneous), nodes_(std::move(nodes)) {
    for (const auto& node : nodes_) {
      empty_.push_back(emptied(node, false));
      sound_.push_back(emptied(node, true));
    }
  }

  Verdict decide(const api::GpuJob& job) {
    const SliceDemand demand{job, need_of(job.spec), api::worker_count(job.spec),
                             tolerations_of(job.spec.pod_template)};
    return job.spec.nodes.empty() ? decide_any(demand) : decide_named(demand);
  }

 private:
  static bool open_to(const SharedNode& node, const SliceDemand& demand) {
    return node.node.ready && !node.node.cordoned && node.marked && !node.node.leased &&
           tolerates(demand.tolerations, node.node.foreign_taints);
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

  Nodes unclaimed(Nodes nodes) const {
    std::erase_if(nodes, [&](const SharedNode* node) { return kept_for_others_.contains(node->node.name); });
    return nodes;
  }

  Verdict grant(const SlicePlacement& placement) {
    for (const auto& ref : placement.nodes) {
      const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                      [&](const SharedNode& node) { return node.node.name == ref.name; });
      for (std::int64_t i = 0; i < ref.workers; ++i) add_claim(*found, placement.slices);
    }
    return {placement.nodes, "", "", placement.slices};
  }

  // The job could run if others gave back: nobody behind it may take what it waits for.
  Verdict wait(const SliceDemand& demand, const Nodes& wanted) {
    const bool behind = unclaimed(wanted).size() < wanted.size();
    for (const auto* node : wanted) kept_for_others_.insert(node->node.name);
    return wait_in_line(pool_.metadata.name, "slices for " + demand.text(), behind);
  }

  Verdict decide_any(const SliceDemand& demand) {
    const auto choose = [&](const Nodes& nodes) {
      return choose_slices(nodes, demand.need, demand.workers, one_model_);
    };
    const auto all = usable(nodes_);
    if (all.empty() && !nodes_.empty()) {
      return {{},
              reason::kWaitingForNodes,
              "pool " + pool_.metadata.name + " has no GPU that can be shared now; see its status.excluded"};
    }
    const auto open = open_nodes(all, demand);
    if (const auto now = choose(unclaimed(open))) return grant(*now);
    const auto possible = open_nodes(usable(empty_), demand);
    if (choose(possible)) return wait(demand, possible);
    const auto sound = usable(sound_);
    if (choose(sound)) {
      return {
          {},
          reason::kWaitingForNodes,
          "pool " + pool_.metadata.name + " could hold " + demand.text() +
              " only with nodes that are not ready, cordoned, tainted or not yet marked, or with sick GPUs"};
    }
    const bool mixed = one_model_ && choose_slices(sound, demand.need, demand.workers, false);
    return {{},
            mixed ? reason::kNoMatchingModel : reason::kTooLarge,
            "pool " + pool_.metadata.name + (mixed ? " has no single GPU model for " : " is too small for ") +
                demand.text()};
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
              "a node of spec.nodes is not ready, cordoned or tainted, or has a sick GPU"};
    }
    const auto now = place(named);
    if (now && unclaimed(named).size() == named.size()) return grant(*now);
    return wait(demand, named);
  }

  const api::GpuPool& pool_;
  bool one_model_;
  std::vector<SharedNode> nodes_;
  std::vector<SharedNode> empty_;  // the same nodes with nobody on them
  std::vector<SharedNode> sound_;  // and with all their GPUs healthy
  std::set<std::string> kept_for_others_;
};

SlicePlan::SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line)
    : pass_(std::make_unique<SlicePass>(pool, std::move(nodes))) {
  for (const auto& job : line.in_order()) append(line.find(job->metadata.key())->place(), *job);
}

SlicePlan::~SlicePlan() = default;

void SlicePlan::append(const Place& place, const api::GpuJob& job) {
  places_.insert(places_.end(), place);
  verdicts_[place.key] = pass_->decide(job);
}

bool SlicePlan::leave(const Place& place) {
  const bool first = !places_.empty() && *places_.begin() == place;
  places_.erase(place);
  verdicts_.erase(place.key);
  return first;
}

std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const WaitingLine& line) {
  return SlicePlan(pool, std::move(nodes), line).verdicts();
}

}  // namespace gpupool::planning
