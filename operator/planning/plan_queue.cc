#include "planning/plan_queue.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>

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

// One pass over a pool's queue. What is claimed only grows in it, so jobs that ask for the same as one that
// got nothing get nothing either: a long queue costs little more than its different demands.
class QueuePass {
 public:
  QueuePass(const api::GpuPool& pool, const std::vector<PoolNode>& nodes) : pool_(pool) {
    for (const auto& node : nodes) all_.push_back(&node);
    std::sort(all_.begin(), all_.end(), by_name);
    for (const auto* node : all_) {
      if (!gpu_mismatch(*node, pool.spec.gpus).empty()) continue;
      fitting_.push_back(node);
      if (!node->leased) free_.push_back(node);
      if (!node->foreign_taints.empty()) tainted_ = true;
    }
  }

  Verdict decide(const api::GpuJob& job) {
    const auto demand = demand_of(pool_, job);
    return job.spec.nodes.empty() ? decide_any(demand) : decide_named(demand);
  }

 private:
  // Workers, GPUs of each, and the template if tolerations matter.
  using DemandKey = std::tuple<std::int64_t, std::int64_t, std::string_view>;

  static bool by_name(const PoolNode* a, const PoolNode* b) { return a->name < b->name; }

  DemandKey key_of(const Demand& demand) const {
    const std::string_view pod_template = demand.job.spec.pod_template.text;
    return {demand.workers, demand.gpus_per_worker, tainted_ ? pod_template : std::string_view()};
  }

  const PoolNode* find(const std::string& name) const {
    const auto found =
        std::lower_bound(all_.begin(), all_.end(), name,
                         [](const PoolNode* node, const std::string& wanted) { return node->name < wanted; });
    return found != all_.end() && (*found)->name == name ? *found : nullptr;
  }

  bool is_free(const PoolNode* node) const { return !node->leased && !claimed_.contains(node); }

  static Nodes schedulable(const Demand& demand, const Nodes& nodes) {
    Nodes kept;
    kept.reserve(nodes.size());
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(kept), [&](const PoolNode* node) {
      return node->usable() && planning::tolerates(demand.job.spec.pod_template, node->foreign_taints);
    });
    return kept;
  }

  void claim(const Nodes& nodes) {
    claimed_.insert(nodes.begin(), nodes.end());
    std::erase_if(free_, [this](const PoolNode* node) { return claimed_.contains(node); });
  }

  Verdict grant(const Nodes& nodes) {
    claim(nodes);
    return {references(nodes), "", ""};
  }

  // The job could run if others gave back: nobody behind it may take what it waits for.
  Verdict wait(const Demand& demand, const Nodes& wanted) {
    const bool behind = std::any_of(wanted.begin(), wanted.end(), [&](const PoolNode* node) {
      return !node->leased && claimed_.contains(node);
    });
    claim(wanted);
    const std::string message = "waiting in pool " + pool_.metadata.name + " for nodes for " + demand.text();
    return behind ? Verdict{{}, reason::kBehindOthers, message + "; jobs before it in the queue come first"}
                  : Verdict{{}, reason::kWaitingForNodes, message};
  }

  Verdict decide_any(const Demand& demand) {
    const auto refused = refused_.find(key_of(demand));
    if (refused != refused_.end()) return refused->second;
    if (const auto now = choose(demand, schedulable(demand, free_))) return grant(*now);
    auto verdict = why_not(demand);
    refused_.emplace(key_of(demand), why_not(demand));  // the next one is behind this one
    return verdict;
  }

  Verdict why_not(const Demand& demand) {
    if (fitting_.empty() && !all_.empty()) {
      return {{},
              reason::kNoMatchingModel,
              "no node of pool " + pool_.metadata.name + " has GPUs as spec.gpus of the pool asks for"};
    }
    const auto possible = schedulable(demand, fitting_);
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
      const auto* found = find(name);
      if (found == nullptr) {
        return {
            {}, reason::kNoSuchNode, "node " + name + " of spec.nodes is not in pool " + pool_.metadata.name};
      }
      if (const auto mismatch = gpu_mismatch(*found, pool_.spec.gpus); !mismatch.empty()) {
        return {{},
                reason::kNoMatchingModel,
                std::string("node ").append(name).append(" of spec.nodes: ").append(mismatch)};
      }
      named.push_back(found);
    }
    if (!choose_nodes(named, demand.workers, demand.gpus_per_worker)) {
      return {{}, reason::kTooLarge, "the nodes of spec.nodes are too small for " + demand.text()};
    }
    if (demand.homogeneous && std::any_of(named.begin(), named.end(), [&](const PoolNode* node) {
          return node->model != named[0]->model;
        })) {
      return {{}, reason::kNoMatchingModel, "the nodes of spec.nodes have different GPU models"};
    }
    if (schedulable(demand, named).size() != named.size()) {
      return {{}, reason::kWaitingForNodes, "a node of spec.nodes is not ready, cordoned or tainted"};
    }
    const bool now =
        std::all_of(named.begin(), named.end(), [this](const PoolNode* node) { return is_free(node); });
    return now ? grant(named) : wait(demand, named);
  }

  const api::GpuPool& pool_;
  Nodes all_;             // in order of name, as the next two
  Nodes fitting_;         // have GPUs that the pool wants
  Nodes free_;            // of these, neither leased nor claimed
  bool tainted_ = false;  // some of these, by others
  std::unordered_set<const PoolNode*> claimed_;
  std::map<DemandKey, Verdict> refused_;
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
