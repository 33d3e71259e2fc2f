// SPDX-License-Identifier: Apache-2.0
// What the answer to a person's question is computed from (planning/forecast).
#include <utility>

#include "controllers/queue/pool_queue.h"

namespace gpupool::controllers {

std::vector<planning::Holder> PoolQueue::holders_of(const planning::PoolState& state) {
  std::vector<planning::Holder> holders;
  for (const auto& key : state.holding) {
    const auto job = jobs_.find(key);
    if (job == jobs_.end() || !(*job)->status.lease) continue;
    holders.push_back({*job, (*job)->status.lease->nodes, (*job)->status.lease->slices});
  }
  for (const auto& [key, verdict] : granted_) {
    const auto job = jobs_.find(key);
    if (job == jobs_.end() || (*job)->spec.pool != state.pool()->metadata.name) continue;
    if (!state.holding.contains(key)) holders.push_back({*job, verdict.nodes, verdict.slices});
  }
  return holders;
}

std::optional<planning::QueueSnapshot> PoolQueue::snapshot(const api::GpuJob& job, const std::string& pool) {
  const auto key = job.metadata.key();
  const bool own = pool == job.spec.pool;
  const base::MutexLock lock(mutex_);
  work_in_changes();
  auto* const state = find(pool);
  if (state == nullptr) return std::nullopt;
  planning::QueueSnapshot seen;
  seen.granted = own && granted_.contains(key);
  const auto* const entry = own ? state->line().find(key) : nullptr;
  if (own && !seen.granted && entry == nullptr) return std::nullopt;
  seen.pool = state->pool();
  seen.closed = state->closed();
  seen.asker = key;
  if (state->pool()->spec.sharing) {
    for (const auto& [name, node] : state->shared(describer(*state))) seen.shared.push_back(node);
  } else {
    for (const auto& [name, member] : state->members()) seen.nodes.push_back(member.described);
  }
  seen.holders = holders_of(*state);
  if (seen.granted) return seen;
  const auto arrival = entry != nullptr ? entry->position().arrival : arrival_of(job.metadata.uid);
  const auto position = planning::WaitingLine::position_of(job, arrival);
  seen.ahead = state->line().count_before(position);
  seen.line = seen.too_many() ? state->line().copy_empty() : state->line().copy_before(position);
  auto asker = job;
  asker.spec.pool = pool;
  seen.line.put(std::make_shared<const api::GpuJob>(std::move(asker)), arrival,
                entry != nullptr ? entry->demand().avoided : std::vector<std::string>());
  return seen;
}

}  // namespace gpupool::controllers
