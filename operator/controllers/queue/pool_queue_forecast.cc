// SPDX-License-Identifier: Apache-2.0
// Pools with spec.queue: what waiting jobs are told of their place and start.
#include <utility>

#include "controllers/queue/pool_queue.h"

namespace gpupool::controllers {

std::optional<planning::TurnSnapshot> PoolQueue::first_turns(const std::string& pool) {
  const base::MutexLock lock(mutex_);
  work_in_changes();
  auto* const state = find(pool);
  if (state == nullptr || state->turns() == nullptr) return std::nullopt;
  advance(*state);
  planning::TurnSnapshot seen;
  seen.pool = state->pool();
  if (state->closed()) return seen;
  auto& book = state->turns()->book();
  for (const auto* entry : state->first_places(planning::kPlacesFound, describer(*state))) {
    const auto& demand = entry->demand();
    seen.waiters.push_back({entry->job(), entry->position().arrival, demand.avoided, demand.turn});
    const auto& tenant = demand.turn.tenant;
    if (!seen.shares.contains(tenant)) seen.shares.emplace(tenant, book.share(tenant, state->turns()->now()));
  }
  seen.first = state->first_in_line();
  if (seen.waiters.empty()) return seen;
  if (state->pool()->spec.sharing) {
    for (const auto& [name, node] : state->shared(describer(*state))) seen.shared.push_back(node);
  } else {
    seen.nodes.reserve(state->members().size());
    for (const auto& [name, member] : state->members()) seen.nodes.push_back(member.described);
  }
  for (auto& holder : holders_of(*state)) {
    auto tenant = state->turns()->tenant_of(*holder.job);
    const auto amount = state->amount_of(holder.nodes, holder.slices);
    seen.holders.push_back({std::move(holder), std::move(tenant), amount});
  }
  return seen;
}

void PoolQueue::take_forecast(const std::string& pool, const std::vector<planning::Expected>& found) {
  const base::MutexLock lock(mutex_);
  work_in_changes();
  auto* const state = find(pool);
  if (state == nullptr || state->turns() == nullptr) return;
  advance(*state);
  state->turns()->take_forecast(found, state->line());
}

}  // namespace gpupool::controllers
