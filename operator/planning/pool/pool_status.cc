// SPDX-License-Identifier: Apache-2.0
#include "planning/pool/pool_status.h"

#include <algorithm>
#include <map>

#include "api/v1alpha1/reasons.h"
#include "base/quantity.h"
#include "planning/nodes/pool_validation.h"
#include "planning/pool/pool_readiness.h"
#include "planning/queue/spare_nodes.h"

namespace gpupool::planning {
namespace {

namespace calm = api::condition_reason;
namespace reason = api::reason;
constexpr std::size_t kMaxListed = 50;
constexpr std::size_t kMaxNamed = 5;

std::string name_some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxNamed; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMaxNamed) text += " and " + std::to_string(names.size() - kMaxNamed) + " more";
  return text;
}

// Returns the number of nodes with GPUs that the pool may use, also of those that are held or not ready.
std::int64_t count_nodes(api::GpuPoolStatus& status, const std::vector<PoolNode>& nodes,
                         const api::GpuPool& pool) {
  const auto& wanted = pool.spec.gpus;
  std::int64_t usable = 0;
  std::map<std::string, api::PoolGpuModel> models;
  const auto spare = spares_now(nodes, pool);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    ++status.nodes.total;
    ++(node.ready ? status.nodes.ready : status.nodes.unready);
    if (node.cordoned || node.draining) ++status.nodes.cordoned;
    if (node.leased) ++status.nodes.leased;
    const auto mismatch = gpu_mismatch(node, wanted);
    if (!mismatch.empty()) {
      status.excluded.push_back({node.name, mismatch});
      continue;
    }
    ++usable;
    if (auto held = foreign_gpus_text(node); !held.empty() && !node.leased)
      status.excluded.push_back({node.name, std::move(held)});
    status.gpus.total += node.all_gpus();
    if (node.leased) status.gpus.leased += node.gpus;
    if (spare[i]) {
      ++status.nodes.spare;
    } else if (node.usable() && !node.leased && node.foreign_taints.empty()) {
      ++status.nodes.available;
      status.gpus.available += node.gpus;
    }
    auto& model = models[node.model];
    model.model = node.model.empty() ? "unknown" : node.model;
    model.count += node.all_gpus();
    if (node.memory > 0) model.memory = base::format_binary(node.memory);
  }
  for (auto& [name, model] : models) status.gpus.models.push_back(std::move(model));
  return usable;
}

// Returns why the node, or some of its GPUs, cannot be used.
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

// The same where GPUs are the unit.
void count_single_gpus(const SharedNode& node, bool open, api::GpuPoolStatus& status,
                       std::map<std::string, api::PoolGpuModel>& models) {
  for (const auto& gpus : node.gpus) {
    const auto free = std::clamp<std::int64_t>(gpus.free, 0, gpus.healthy_slices);
    status.gpus.total += gpus.size.count;
    status.gpus.leased += gpus.healthy_slices - free;
    auto& model = models[gpus.model];
    model.model = gpus.model.empty() ? "unknown" : gpus.model;
    model.count += gpus.size.count;
    if (gpus.memory_mib > 0) model.memory = base::format_binary(bytes_of(gpus.memory_mib));
    if (!open || free == 0) continue;
    status.gpus.available += free;
    ++status.nodes.available;
  }
}

// Returns the same.
std::int64_t count_shared(api::GpuPoolStatus& status, const std::vector<SharedNode>& nodes, bool rents_gpus) {
  std::int64_t usable = 0;
  if (!rents_gpus) status.slices.emplace();
  std::map<std::string, api::PoolGpuModel> models;
  for (const auto& node : nodes) {
    ++status.nodes.total;
    ++(node.node.ready ? status.nodes.ready : status.nodes.unready);
    if (node.node.cordoned || node.node.draining) ++status.nodes.cordoned;
    if (node.node.leased || node.held > 0) ++status.nodes.leased;
    if (auto why = complaint(node); !why.empty()) status.excluded.push_back({node.node.name, std::move(why)});
    if (!node.unusable.empty()) continue;
    ++usable;
    const bool open =
        node.node.takes_jobs() && !node.node.leased && node.marked && node.node.foreign_taints.empty();
    (rents_gpus ? count_single_gpus : count_gpus)(node, open, status, models);
  }
  for (auto& [name, model] : models) status.gpus.models.push_back(std::move(model));
  return usable;
}

api::GpuPoolStatus begin_status(const api::GpuPool& pool, const Members& members) {
  api::GpuPoolStatus status;
  status.conditions = pool.status.conditions;
  status.observed_generation = pool.metadata.generation;
  status.excluded = members.excluded;
  return status;
}

api::GpuPoolStatus finish_status(api::GpuPoolStatus status, const api::GpuPool& pool, const Members& members,
                                 std::int64_t usable, const PoolJobs& jobs, base::WallTime now) {
  const auto not_ready = why_not_ready(pool, members, usable, status.excluded);
  status.draining = jobs.draining;
  status.queue = jobs.queue;
  if (status.excluded.size() > kMaxListed) status.excluded.resize(kMaxListed);
  if (status.draining.size() > kMaxListed) status.draining.resize(kMaxListed);
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
  } else if (not_ready) {
    set("Ready", false, not_ready->reason, not_ready->message);
  } else if (members.in_older_pool) {
    set("Ready", true, reason::kNodesInOlderPool,
        "some selected nodes belong to an older pool; see status.excluded");
  } else {
    set("Ready", true, calm::kMembersCounted, count_of_nodes(status.nodes.total));
  }
  set("Stalled", problem.has_value(), problem ? problem->reason : calm::kNotStalled,
      problem ? problem->message : "");
  set("Reconciling", pool.metadata.deleting(),
      pool.metadata.deleting() ? reason::kPoolStopping : calm::kSettled, "");
  return status;
}

}  // namespace

api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<PoolNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now) {
  auto status = begin_status(pool, members);
  const auto usable = count_nodes(status, nodes, pool);
  return finish_status(std::move(status), pool, members, usable, jobs, now);
}

api::GpuPoolStatus make_pool_status(const api::GpuPool& pool, const Members& members,
                                    const std::vector<SharedNode>& nodes, const PoolJobs& jobs,
                                    base::WallTime now) {
  auto status = begin_status(pool, members);
  const auto usable = count_shared(status, nodes, pool.spec.rents_gpus());
  return finish_status(std::move(status), pool, members, usable, jobs, now);
}

bool is_news(const api::GpuPoolStatus& status, const api::GpuPoolStatus& stored) {
  if (!status.queue || !stored.queue) return status != stored;
  const auto without_time = [](api::GpuPoolStatus of) {
    of.queue->as_of.reset();
    for (auto& tenant : of.queue->tenants) {
      tenant.average_held.clear();
      tenant.usage.clear();
    }
    return of;
  };
  return without_time(status) != without_time(stored);
}

}  // namespace gpupool::planning
