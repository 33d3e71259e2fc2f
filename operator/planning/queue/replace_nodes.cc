// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/replace_nodes.h"

#include <algorithm>
#include <optional>
#include <set>

#include "planning/nodes/near_groups.h"
#include "planning/queue/node_picker.h"

namespace gpupool::planning {
namespace {

// Leaves the candidates that have the same value of the label as one of the nodes.
std::vector<const Candidate*> beside(const std::vector<const PoolNode*>& nodes,
                                     std::vector<const Candidate*> candidates, const std::string& label) {
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

}  // namespace

std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept) {
  if (!job.spec.nodes.empty()) return {};  // only the nodes of spec.nodes are allowed
  const auto needs = needs_of(job.spec, pool.spec.worker_resource());
  const auto gpus_per_worker = api::gpus_of_each_worker(job.spec);
  auto workers = api::worker_count(job.spec);
  std::vector<const PoolNode*> chosen;
  std::vector<Candidate> free;
  for (const auto& node : nodes) {
    const bool keep = std::find(kept.begin(), kept.end(), node.name) != kept.end();
    if (keep) {
      chosen.push_back(&node);
      workers -= worker_slots(node, gpus_per_worker, needs);
    } else if (!node.leased && node.usable() && gpu_mismatch(node, pool.spec.gpus).empty() &&
               tolerates(needs.tolerations, node.foreign_taints)) {
      free.push_back({&node});
    }
  }
  if (chosen.size() != kept.size()) return {};
  if (pool.spec.gpus.homogeneous && !chosen.empty()) {
    std::erase_if(free, [&](const Candidate& other) { return other.node->model != chosen[0]->model; });
  }
  if (workers > 0) {
    std::vector<const Candidate*> candidates(free.size());
    std::ranges::transform(free, candidates.begin(), [](const Candidate& other) { return &other; });
    const auto near = near_of(job.spec, pool.spec.near);
    const auto choose = [&](const std::vector<const Candidate*>& from) {
      return NodePicker(pool.spec.gpus, from, workers, gpus_per_worker, needs, NodePicker::Of::kFree, near)
          .next();
    };
    std::optional<std::vector<const PoolNode*>> more;
    for (const auto& label : near.labels) {
      if (!more && !chosen.empty()) more = choose(beside(chosen, candidates, label));
    }
    if (!more && (chosen.empty() || !near.required)) more = choose(candidates);
    if (!more) return {};
    chosen.insert(chosen.end(), more->begin(), more->end());
  }
  return references(chosen);
}

}  // namespace gpupool::planning
