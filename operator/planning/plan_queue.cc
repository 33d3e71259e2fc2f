#include "planning/plan_queue.h"

#include <algorithm>
#include <optional>
#include <set>

#include "api/core/pod_template.h"
#include "api/v1alpha1/reasons.h"
#include "planning/choose_nodes.h"
#include "planning/queue_order.h"

namespace gpupool::planning {
namespace {

using Nodes = std::vector<const PoolNode*>;
namespace reason = api::reason;

bool tolerates(const std::vector<api::TemplateToleration>& tolerations, const api::Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const api::TemplateToleration& toleration) {
    if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
    if (toleration.key != taint.key) return toleration.key.empty() && toleration.op == "Exists";
    return toleration.op == "Exists" || toleration.value == taint.value;
  });
}

// What one job asks of a pool.
struct Demand {
  const api::GpuJob& job;
  std::int64_t workers;
  std::int64_t gpus_per_worker;
  bool homogeneous;

  std::string text() const {
    return std::to_string(workers) + (workers == 1 ? " worker" : " workers") + " with " +
           std::to_string(gpus_per_worker) + (gpus_per_worker == 1 ? " GPU each" : " GPUs each");
  }
};

Demand demand_of(const api::GpuPool& pool, const api::GpuJob& job) {
  return {job, api::worker_count(job.spec), api::gpus_of_each_worker(job.spec), pool.spec.gpus.homogeneous};
}

std::optional<Nodes> choose(const Demand& demand, const Nodes& candidates) {
  return demand.homogeneous ? choose_nodes_of_one_model(candidates, demand.workers, demand.gpus_per_worker)
                            : choose_nodes(candidates, demand.workers, demand.gpus_per_worker);
}

std::vector<api::NodeRef> references(const Nodes& nodes) {
  std::vector<api::NodeRef> refs;
  for (const auto* node : nodes) refs.push_back({node->name, node->uid});
  std::sort(refs.begin(), refs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return refs;
}

// One pass over a pool's queue.
class QueuePass {
 public:
  QueuePass(const api::GpuPool& pool, const std::vector<PoolNode>& nodes) : pool_(pool) {
    for (const auto& node : nodes) {
      by_name_[node.name] = &node;
      if (gpu_mismatch(node, pool.spec.gpus).empty()) fitting_.push_back(&node);
    }
  }

  Verdict decide(const api::GpuJob& job) {
    const auto demand = demand_of(pool_, job);
    return job.spec.nodes.empty() ? decide_any(demand) : decide_named(demand);
  }

 private:
  Nodes schedulable(const Demand& demand, const Nodes& nodes, bool free_only) const {
    Nodes kept;
    for (const auto* node : nodes) {
      if (!node->usable() || !planning::tolerates(demand.job.spec.pod_template, node->foreign_taints))
        continue;
      if (free_only && (node->leased || claimed_.contains(node->name))) continue;
      kept.push_back(node);
    }
    return kept;
  }

  Verdict grant(const Nodes& nodes) {
    for (const auto* node : nodes) claimed_.insert(node->name);
    return {references(nodes), "", ""};
  }

  // The job could run if others gave back: nobody behind it may take what it waits for.
  Verdict wait(const Demand& demand, const Nodes& wanted) {
    const bool behind = std::any_of(wanted.begin(), wanted.end(), [&](const PoolNode* node) {
      return !node->leased && claimed_.contains(node->name);
    });
    for (const auto* node : wanted) claimed_.insert(node->name);
    const std::string message = "waiting in pool " + pool_.metadata.name + " for nodes for " + demand.text();
    return behind ? Verdict{{}, reason::kBehindOthers, message + "; jobs before it in the queue come first"}
                  : Verdict{{}, reason::kWaitingForNodes, message};
  }

  Verdict decide_any(const Demand& demand) {
    if (fitting_.empty() && !by_name_.empty()) {
      return {{},
              reason::kNoMatchingModel,
              "no node of pool " + pool_.metadata.name + " has GPUs as spec.gpus of the pool asks for"};
    }
    if (const auto now = choose(demand, schedulable(demand, fitting_, true))) return grant(*now);
    const auto possible = schedulable(demand, fitting_, false);
    if (choose(demand, possible)) return wait(demand, possible);
    if (choose(demand, fitting_)) {
      return {{},
              reason::kWaitingForNodes,
              "pool " + pool_.metadata.name + " could hold " + demand.text() +
                  " only with nodes that are not ready, cordoned or tainted now"};
    }
    const bool mixed = demand.homogeneous && choose_nodes(fitting_, demand.workers, demand.gpus_per_worker);
    return {{},
            mixed ? reason::kNoMatchingModel : reason::kTooLarge,
            "pool " + pool_.metadata.name + (mixed ? " has no single GPU model for " : " is too small for ") +
                demand.text()};
  }

  Verdict decide_named(const Demand& demand) {
    Nodes named;
    for (const auto& name : demand.job.spec.nodes) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) {
        return {
            {}, reason::kNoSuchNode, "node " + name + " of spec.nodes is not in pool " + pool_.metadata.name};
      }
      if (const auto mismatch = gpu_mismatch(*found->second, pool_.spec.gpus); !mismatch.empty()) {
        return {{},
                reason::kNoMatchingModel,
                std::string("node ").append(name).append(" of spec.nodes: ").append(mismatch)};
      }
      named.push_back(found->second);
    }
    if (!choose_nodes(named, demand.workers, demand.gpus_per_worker)) {
      return {{}, reason::kTooLarge, "the nodes of spec.nodes are too small for " + demand.text()};
    }
    if (demand.homogeneous && std::any_of(named.begin(), named.end(), [&](const PoolNode* node) {
          return node->model != named[0]->model;
        })) {
      return {{}, reason::kNoMatchingModel, "the nodes of spec.nodes have different GPU models"};
    }
    if (schedulable(demand, named, true).size() == named.size()) return grant(named);
    if (schedulable(demand, named, false).size() == named.size()) return wait(demand, named);
    return {{}, reason::kWaitingForNodes, "a node of spec.nodes is not ready, cordoned or tainted"};
  }

  const api::GpuPool& pool_;
  std::map<std::string, const PoolNode*> by_name_;
  Nodes fitting_;
  std::set<std::string> claimed_;
};

}  // namespace

bool tolerates(const base::json::RawJson& pod_template, const std::vector<api::Taint>& taints) {
  if (taints.empty()) return true;
  const auto parsed = base::json::read<api::PodTemplate>(pod_template.text);
  if (!parsed) return false;
  return std::all_of(taints.begin(), taints.end(),
                     [&](const api::Taint& taint) { return tolerates(parsed->spec.tolerations, taint); });
}

std::map<api::ObjectKey, Verdict> plan_queue(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                             const std::vector<std::shared_ptr<const api::GpuJob>>& queue) {
  QueuePass pass(pool, nodes);
  std::map<api::ObjectKey, Verdict> verdicts;
  for (const auto* job : in_order(queue)) verdicts[job->metadata.key()] = pass.decide(*job);
  return verdicts;
}

std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept) {
  if (!job.spec.nodes.empty()) return {};  // these nodes or none
  auto demand = demand_of(pool, job);
  Nodes chosen;
  Nodes free;
  for (const auto& node : nodes) {
    const bool keep = std::find(kept.begin(), kept.end(), node.name) != kept.end();
    if (keep) {
      chosen.push_back(&node);
      demand.workers -= worker_slots(node, demand.gpus_per_worker);
    } else if (!node.leased && node.usable() && gpu_mismatch(node, pool.spec.gpus).empty() &&
               tolerates(job.spec.pod_template, node.foreign_taints)) {
      free.push_back(&node);
    }
  }
  if (chosen.size() != kept.size()) return {};
  if (demand.homogeneous && !chosen.empty()) {
    std::erase_if(free, [&](const PoolNode* node) { return node->model != chosen[0]->model; });
  }
  if (demand.workers > 0) {
    const auto more = choose(demand, free);
    if (!more) return {};
    chosen.insert(chosen.end(), more->begin(), more->end());
  }
  return references(chosen);
}

}  // namespace gpupool::planning
