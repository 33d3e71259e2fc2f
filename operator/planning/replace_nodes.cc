#include "planning/replace_nodes.h"

#include <algorithm>

#include "planning/supply.h"
#include "planning/tolerations.h"

namespace gpupool::planning {

std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept) {
  if (!job.spec.nodes.empty()) return {};  // these nodes or none
  const auto tolerations = tolerations_of(job.spec.pod_template);
  const auto gpus_per_worker = api::gpus_of_each_worker(job.spec);
  auto workers = api::worker_count(job.spec);
  std::vector<const PoolNode*> chosen;
  std::vector<Candidate> free;
  for (const auto& node : nodes) {
    const bool keep = std::find(kept.begin(), kept.end(), node.name) != kept.end();
    if (keep) {
      chosen.push_back(&node);
      workers -= worker_slots(node, gpus_per_worker);
    } else if (!node.leased && node.usable() && gpu_mismatch(node, pool.spec.gpus).empty() &&
               tolerates(tolerations, node.foreign_taints)) {
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
    const auto more = Supply(pool.spec.gpus, candidates, workers, gpus_per_worker, Supply::Of::kFree).next();
    if (!more) return {};
    chosen.insert(chosen.end(), more->begin(), more->end());
  }
  return references(chosen);
}

}  // namespace gpupool::planning
