#include "planning/replace_nodes.h"

#include <algorithm>

#include "planning/choose_nodes.h"
#include "planning/tolerations.h"

namespace gpupool::planning {

std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept) {
  if (!job.spec.nodes.empty()) return {};  // these nodes or none
  const auto tolerations = tolerations_of(job.spec.pod_template);
  const auto gpus_per_worker = api::gpus_of_each_worker(job.spec);
  auto workers = api::worker_count(job.spec);
  std::vector<const PoolNode*> chosen;
  std::vector<const PoolNode*> free;
  for (const auto& node : nodes) {
    const bool keep = std::find(kept.begin(), kept.end(), node.name) != kept.end();
    if (keep) {
      chosen.push_back(&node);
      workers -= worker_slots(node, gpus_per_worker);
    } else if (!node.leased && node.usable() && gpu_mismatch(node, pool.spec.gpus).empty() &&
               tolerates(tolerations, node.foreign_taints)) {
      free.push_back(&node);
    }
  }
  if (chosen.size() != kept.size()) return {};
  const bool one_model = pool.spec.gpus.homogeneous;
  if (one_model && !chosen.empty()) {
    std::erase_if(free, [&](const PoolNode* node) { return node->model != chosen[0]->model; });
  }
  if (workers > 0) {
    const auto more = one_model ? choose_nodes_of_one_model(free, workers, gpus_per_worker)
                                : choose_nodes(free, workers, gpus_per_worker);
    if (!more) return {};
    chosen.insert(chosen.end(), more->begin(), more->end());
  }
  std::vector<api::NodeRef> refs;
  refs.reserve(chosen.size());
  for (const auto* node : chosen) refs.push_back({node->name, node->uid});
  std::sort(refs.begin(), refs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return refs;
}

}  // namespace gpupool::planning
