#include "planning/pool_status.h"

#include <algorithm>
#include <map>

#include "api/v1alpha1/reasons.h"
#include "base/quantity.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
constexpr std::size_t kMaxExcluded = 50;
constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxTaintValue = 63;

std::string name_some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxNamed; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMaxNamed) text += " and " + std::to_string(names.size() - kMaxNamed) + " more";
  return text;
}

void count_nodes(api::GpuPoolStatus& status, const std::vector<PoolNode>& nodes,
                 const api::PoolGpus& wanted) {
  std::map<std::string, api::PoolGpuModel> models;
  for (const auto& node : nodes) {
    ++status.nodes.total;
    ++(node.ready ? status.nodes.ready : status.nodes.unready);
    if (node.cordoned) ++status.nodes.cordoned;
    if (node.leased) ++status.nodes.leased;
    const auto mismatch = gpu_mismatch(node, wanted);
    if (!mismatch.empty()) {
      status.excluded.push_back({node.name, mismatch});
      continue;
    }
    status.gpus.total += node.gpus;
    if (node.leased) status.gpus.leased += node.gpus;
    if (node.usable() && !node.leased && node.foreign_taints.empty()) {
      ++status.nodes.available;
      status.gpus.available += node.gpus;
    }
    auto& model = models[node.model];
    model.model = node.model.empty() ? "unknown" : node.model;
    model.count += node.gpus;
    if (node.memory > 0) model.memory = base::format_binary(node.memory);
  }
  for (auto& [name, model] : models) status.gpus.models.push_back(std::move(model));
}

// Why the node, or some of its GPUs, cannot be used.
std::string complaint(const SharedNode& node) {
  if (!node.unusable.empty()) return node.unusable;
  std::string text;
  for (const auto& note : node.notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

void count_gpus(const SharedNode& node, bool open, api::GpuPoolStatus& status,
                std::map<std::string, api::PoolGpuModel>& models) {
  std::int64_t free = 0;
  for (const auto& gpu : node.gpus) {
    if (!gpu.healthy) continue;
    ++status.gpus.total;
    if (gpu.free < gpu.healthy_slices) ++status.gpus.leased;
    if (open && gpu.free > 0) ++status.gpus.available;
    status.slices->total += gpu.healthy_slices;
    free += std::max<std::int64_t>(0, gpu.free);
    auto& model = models[gpu.model];
    model.model = gpu.model.empty() ? "unknown" : gpu.model;
    ++model.count;
    model.memory = base::format_binary(bytes_of(gpu.memory_mib));
  }
  for (const auto& claim : node.claims) free -= claim.slices;
  if (!open || free <= 0) return;
  status.slices->free += free;
  ++status.nodes.available;
}

void count_shared(api::GpuPoolStatus& status, const std::vector<SharedNode>& nodes) {
  status.slices.emplace();
  std::map<std::string, api::PoolGpuModel> models;
  for (const auto& node : nodes) {
    ++status.nodes.total;
    ++(node.node.ready ? status.nodes.ready : status.nodes.unready);
    if (node.node.cordoned) ++status.nodes.cordoned;
    if (node.node.leased || node.held > 0) ++status.nodes.leased;
    if (auto why = complaint(node); !why.empty()) status.excluded.push_back({node.node.name, std::move(why)});
    if (!node.unusable.empty()) continue;
    const bool open = node.node.ready && !node.node.cordoned && !node.node.leased && node.marked &&
                      node.node.foreign_taints.empty();
    count_gpus(node, open, status, models);
  }
  for (auto& [name, model] : models) status.gpus.models.push_back(std::move(model));
}

}  // namespace

std::optional<Problem> validate_pool(const api::GpuPool& pool) {
  if (pool.spec.sharing && pool.metadata.name.size() > kMaxTaintValue) {
    return Problem{reason::kInvalidSpec,
                   "metadata.name: the name of a pool with spec.sharing is a taint value and has at most " +
                       std::to_string(kMaxTaintValue) + " characters"};
  }
  if (auto error = check_pattern(pool.spec.node_name_pattern); !error.empty()) {
    return Problem{reason::kInvalidNodeNamePattern, "spec.nodeNamePattern: " + error};
  }
  if (auto error = check_selector(pool.spec.node_selector); !error.empty()) {
    return Problem{reason::kInvalidNodeSelector, "spec.nodeSelector: " + error};
  }
  const auto& memory = pool.spec.gpus.min_memory;
  if (!memory.empty() && !base::parse_quantity(memory)) {
    return Problem{reason::kInvalidSpec,
                   "spec.gpus.minMemory: \"" + memory + "\" is not a quantity such as 16Gi"};
  }
  return std::nullopt;
}

namespace {

api::GpuPoolStatus begin_status(const api::GpuPool& pool, const Members& members) {
  api::GpuPoolStatus status;
  status.conditions = pool.status.conditions;
  status.observed_generation = pool.metadata.generation;
  status.excluded = members.excluded;
  return status;
}

api::GpuPoolStatus finish_status(api::GpuPoolStatus status, const api::GpuPool& pool, const Members& members,
                                 const PoolJobs& jobs, base::WallTime now) {
  if (status.excluded.size() > kMaxExcluded) status.excluded.resize(kMaxExcluded);
  status.jobs = {jobs.queued, static_cast<std::int64_t>(jobs.holding.size())};

  const auto set = [&](const std::string& type, bool value, const std::string& why,
                       const std::string& message) {
    api::Condition condition;
    condition.type = type;
    condition.status = value ? "True" : "False";
    condition.observed_generation = pool.metadata.generation;
    condition.reason = why;
    condition.message = message;
    api::set_condition(status.conditions, std::move(condition), now);
  };
  const auto problem = validate_pool(pool);
  if (pool.metadata.deleting()) {
    set("Ready", false, reason::kPoolStopping, "waiting for " + name_some(jobs.holding));
  } else if (problem) {
    set("Ready", false, problem->reason, problem->message);
  } else if (members.in_older_pool) {
    set("Ready", true, reason::kNodesInOlderPool,
        "some selected nodes belong to an older pool; see status.excluded");
  } else {
    set("Ready", true, "MembersCounted", std::to_string(status.nodes.total) + " nodes");
  }
  set("Stalled", problem.has_value(), problem ? problem->reason : "NotStalled",
      problem ? problem->message : "");
  set("Reconciling", pool.metadata.deleting(), pool.metadata.deleting() ? reason::kPoolStopping : "Settled",
      "");
  return status;
}

}  // namespace

api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<PoolNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now) {
  auto status = begin_status(pool, members);
  count_nodes(status, nodes, pool.spec.gpus);
  return finish_status(std::move(status), pool, members, jobs, now);
}

api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<SharedNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now) {
  auto status = begin_status(pool, members);
  count_shared(status, nodes);
  return finish_status(std::move(status), pool, members, jobs, now);
}

}  // namespace gpupool::planning
