// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/changes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "planning/nodes/node_drain.h"
#include "planning/workers/pod_end.h"

namespace gpupool::controllers {

bool changes_lease(const runtime::Change<api::GpuJob>& change) {
  return !change.before || !change.after || change.before->status.lease != change.after->status.lease;
}

std::vector<std::string> released_nodes(const runtime::Change<api::GpuJob>& change) {
  if (!change.before || !changes_lease(change)) return {};
  auto released = nodes_of(*change.before);
  if (!change.after) return released;
  const auto now = nodes_of(*change.after);
  const std::set<std::string> kept(now.begin(), now.end());
  std::erase_if(released, [&](const std::string& node) { return kept.contains(node); });
  return released;
}

bool concerns_queue(const runtime::Change<api::GpuJob>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = *change.before;
  const auto& after = *change.after;
  return before.metadata.generation != after.metadata.generation ||
         before.metadata.deleting() != after.metadata.deleting() || changes_lease(change) ||
         before.status.phase != after.status.phase;
}

bool concerns_others(const runtime::Change<api::GpuPool>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = change.before->metadata;
  const auto& after = change.after->metadata;
  return before.uid != after.uid || before.generation != after.generation ||
         before.finalizers != after.finalizers || before.deleting() != after.deleting();
}

bool changes_prices(const runtime::Change<api::GpuPool>& change) {
  if (!change.before || !change.after) return false;
  const auto price_of = [](const api::GpuPool& pool) {
    return pool.status.price ? pool.status.price->per_gpu_hour : "";
  };
  return price_of(*change.before) != price_of(*change.after);
}

bool concerns_pools(const runtime::Change<api::Node>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = *change.before;
  const auto& after = *change.after;
  return before.metadata.uid != after.metadata.uid || before.metadata.labels != after.metadata.labels ||
         before.metadata.deleting() != after.metadata.deleting() || before.spec.taints != after.spec.taints ||
         before.spec.unschedulable != after.spec.unschedulable || before.ready() != after.ready() ||
         before.status.allocatable != after.status.allocatable ||
         planning::drain_of(before) != planning::drain_of(after);
}

bool concerns_pools(const runtime::Change<api::GpuNode>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = *change.before;
  const auto& after = *change.after;
  return before.metadata.uid != after.metadata.uid ||
         before.metadata.owner_references != after.metadata.owner_references ||
         before.status.message != after.status.message || before.status.gpus != after.status.gpus;
}

std::vector<api::ObjectKey> pods_in_excess(const runtime::Change<api::GpuNode>& change) {
  using Excess = std::tuple<std::string, std::string, std::string, bool>;
  const auto of = [](const std::shared_ptr<const api::GpuNode>& report) {
    std::set<Excess> all;
    if (report == nullptr) return all;
    for (const auto& one : report->status.excesses) all.emplace(one.ns, one.pod, one.pod_uid, one.end);
    return all;
  };
  const auto before = of(change.before);
  const auto after = of(change.after);
  std::vector<Excess> changed;
  std::ranges::set_symmetric_difference(before, after, std::back_inserter(changed));
  std::vector<api::ObjectKey> pods;
  pods.reserve(changed.size());
  for (const auto& [ns, pod, uid, end] : changed) pods.push_back({ns, pod});
  return pods;
}

bool occupies_node(const std::shared_ptr<const api::Pod>& pod) {
  return pod != nullptr && !pod->spec.node_name.empty() && !planning::has_ended(*pod);
}

}  // namespace gpupool::controllers
