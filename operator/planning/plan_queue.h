#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/node_gpus.h"

namespace gpupool::planning {

// Which nodes a queued job gets now, or why it gets none.
struct Verdict {
  std::vector<api::NodeRef> nodes;
  std::string reason;
  std::string message;      // does not change with every event, or a long queue would be rewritten at each
  std::int64_t slices = 0;  // of each worker; 0: the nodes as a whole
  bool operator==(const Verdict&) const = default;
};

// True if the template of the job tolerates all of these taints (a pod with them could be scheduled).
bool tolerates(const base::json::RawJson& pod_template, const std::vector<api::Taint>& taints);

// First come first served within priority (higher first), by creation time, then as given. A job that has to
// wait keeps the nodes it could run on from the jobs behind it, so a large job is never starved by small
// ones; a job that cannot run even on an empty pool holds nobody up. `nodes` are the pool's members with
// `leased` set for everything held.
std::map<api::ObjectKey, Verdict> plan_queue(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                             const std::vector<std::shared_ptr<const api::GpuJob>>& queue);

// Nodes for a job that lost some: keeps `kept` and adds what is missing from the free ones. Empty if there
// are too few.
std::vector<api::NodeRef> replace_nodes(const api::GpuPool& pool, const std::vector<PoolNode>& nodes,
                                        const api::GpuJob& job, const std::vector<std::string>& kept);

}  // namespace gpupool::planning
