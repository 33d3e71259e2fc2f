// SPDX-License-Identifier: Apache-2.0
// The queues of sharing pools: what is on a node, and the answers.
#include "controllers/queue/foreign_share.h"
#include "controllers/queue/pool_queue.h"
#include "planning/nodes/node_needs.h"

namespace gpupool::controllers {

planning::Resources PoolQueue::requested_on(const api::Node& node, const std::string& resource,
                                            const planning::PoolState::Leaving& leaving) {
  planning::Resources sum;
  const auto add = [&](const api::ObjectKey& key,
                       const std::vector<api::NodeRef>& refs) GPUPOOL_REQUIRES(mutex_) {
    const auto job = jobs_.find(key);
    if (job == jobs_.end() || leaving.contains((*job)->metadata.uid)) return;
    for (const auto& ref : refs) {
      if (ref.name != node.metadata.name || ref.uid != node.metadata.uid) continue;
      auto known = requests_.find(key);  // templates are parsed once
      if (known == requests_.end())
        known = requests_.emplace(key, planning::needs_of((*job)->spec, resource).requests).first;
      const auto each = planning::taken_by_worker(known->second);
      for (std::int64_t i = 0; i < ref.workers; ++i) sum += each;
    }
  };
  const auto here = sharers_.find(node.metadata.name);
  const std::set<api::ObjectKey> none;
  const auto& sharers = here == sharers_.end() ? none : here->second;
  for (const auto& key : sharers) {
    if (const auto job = jobs_.find(key); job != jobs_.end() && (*job)->status.lease)
      add(key, (*job)->status.lease->nodes);
  }
  for (const auto& [key, verdict] : granted_) {
    if (verdict.slices > 0 && !sharers.contains(key)) add(key, verdict.nodes);
  }
  return sum;
}

planning::PoolState::Describe PoolQueue::describer(const planning::PoolState& state) {
  return [this, &pool = *state.pool()](const planning::Member& member,
                                       const planning::PoolState::Leaving& leaving) GPUPOOL_REQUIRES(mutex_) {
    const auto& name = member.described.name;
    std::vector<std::shared_ptr<const api::GpuJob>> sharers;
    if (const auto here = sharers_.find(name); here != sharers_.end()) {
      // The state in jobs_, not in the cache: a lease that is being written now still counts as a grant.
      for (const auto& key : here->second) {
        const auto job = jobs_.find(key);
        if (job != jobs_.end() && !leaving.contains((*job)->metadata.uid)) sharers.push_back(*job);
      }
    }
    auto occupants = slices_.occupants({member.node}, sharers, granted_, leaving);
    const auto& resource = pool.spec.worker_resource();
    planning::SharedNode node;
    if (pool.spec.rents_gpus()) {
      node = planning::describe_node_of_gpus(*member.node, pool, occupants.at(name),
                                             foreign_share(caches_, name, resource));
    } else {
      for (auto& pod : foreign_slices(caches_, name, resource))
        occupants.at(name).pods.push_back(std::move(pod));
      const auto report = caches_.report_of(*member.node);
      node = planning::describe_shared_node(*member.node, report.get(), pool, occupants.at(name));
      planning::subtract(node.node, foreign_share(caches_, name, ""));  // the GPUs are in the report
    }
    node.node.object = member.node;
    node.requested = requested_on(*member.node, resource, leaving);
    node.node.leased = member.holders.whole > 0;
    return node;
  };
}

std::optional<planning::Verdict> PoolQueue::verdict_on_slices(planning::PoolState& state,
                                                              const api::ObjectKey& job) {
  if (state.line().find(job) == nullptr) return std::nullopt;
  if (state.closed()) return state.closed();
  const auto& all = state.slices(describer(state));
  const auto found = all.find(job);
  if (found == all.end()) return std::nullopt;
  auto verdict = found->second;
  if (const auto* turns = state.turns(); turns != nullptr && verdict.nodes.empty() && verdict.turn)
    turns->places().show(*state.line().find(job)->job(), *verdict.turn);
  return verdict;
}

}  // namespace gpupool::controllers
