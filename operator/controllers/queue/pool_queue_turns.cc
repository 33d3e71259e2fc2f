// SPDX-License-Identifier: Apache-2.0
// Pools with spec.queue: what jobs hold, and since when.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "controllers/queue/pool_queue.h"
#include "planning/forecast/estimates.h"
#include "planning/job/job_status.h"
#include "planning/nodes/node_gpus.h"
#include "planning/nodes/pool_validation.h"
#include "planning/pricing/pool_price.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::controllers {
namespace {

// In whole seconds, as statuses have times: what the queue answers must be equal to what is read back.
base::WallTime seconds_now(const base::Clock& clock) {
  return std::chrono::floor<std::chrono::seconds>(clock.wall());
}

}  // namespace

// A pool that has no valid spec.queue any more forgets what its tenants have used.
void PoolQueue::open_pool(const std::shared_ptr<const api::GpuPool>& pool) {
  const auto& name = pool->metadata.name;
  const auto& queue = pool->spec.queue;
  const auto now = seconds_now(clock_);
  if (pool->spec.price) {
    const auto next = planning::next_price_change(*pool->spec.price, now);
    if (next && (!prices_until_ || *next < *prices_until_)) prices_until_ = next;
  }
  if (!queue || planning::validate_pool(*pool)) {
    pools_.try_emplace(name, pool, nullptr, now);
    return;
  }
  auto& known = books_[name];
  if (known.book != nullptr && known.pool_uid == pool->metadata.uid) {
    known.book->change(*queue, now);
  } else {
    const auto& stored = pool->status.queue;
    known = {pool->metadata.uid,
             std::make_unique<planning::TenantBook>(*queue, stored ? *stored : api::QueueStatus(), now)};
  }
  const auto state = pools_.try_emplace(name, pool, known.book.get(), now).first;
  state->second.advance(now);
}

// Forgets the books of pools that are gone, or have no spec.queue any more.
void PoolQueue::close_books() {
  std::erase_if(books_, [this](const auto& entry) {
    const auto pool = caches_.pools.store().get({"", entry.first});
    return pool == nullptr || !pool->spec.queue;
  });
}

// After all jobs were read again: what is not among them holds nothing any more.
void PoolQueue::settle_holds() {
  for (auto& [name, state] : pools_) {
    if (state.turns() == nullptr) continue;
    auto holding = state.holding;
    holding.insert(state.awaiting.begin(), state.awaiting.end());
    for (const auto& [key, verdict] : granted_) holding.insert(key);
    state.turns()->book().release_others(holding, seconds_now(clock_));
  }
}

std::optional<base::Duration> PoolQueue::until_claims(const std::string& pool) {
  const base::MutexLock lock(mutex_);
  auto* const state = find(pool);
  const auto at = state == nullptr ? std::nullopt : state->look_again();
  if (!at) return std::nullopt;
  return std::max(base::Duration::zero(), std::chrono::duration_cast<base::Duration>(*at - clock_.wall()));
}

void PoolQueue::advance(planning::PoolState& state) { state.advance(seconds_now(clock_)); }

namespace {

constexpr std::int64_t kLongestInterval = 3600;  // between checkpoints; a longer one gains nothing

// Whether the job may be told to make room, and what that costs.
void describe_work(const api::GpuJob& job, const api::GpuPool& pool, const planning::PoolTurns& turns,
                   planning::TurnHold& hold) {
  auto& holding = hold.holding;
  const auto& lease = *job.status.lease;
  const auto& checkpoint = job.spec.checkpoint;
  holding.uid = job.metadata.uid;
  holding.priority = turns.turn_of(job, 0).priority;
  holding.saves = checkpoint.has_value();
  holding.yields = job.status.progress ? job.status.progress->yields : 0;
  const auto* running = api::find_condition(job.status.conditions, "Running");
  const bool runs = job.status.phase == api::phase::kRunning && !job.metadata.deleting() &&
                    !job.spec.suspend && lease.state == api::lease_state::kRunning && running != nullptr &&
                    running->status == "True" && running->last_transition_time;
  holding.may_yield =
      runs && lease.shared() == pool.spec.sharing.has_value() && job.spec.preemptible.value_or(holding.saves);
  if (!holding.may_yield) return;
  holding.running_since = *running->last_transition_time;
  const auto seconds_since = [&](const base::WallTime& begin) {
    return std::max<std::int64_t>(
        0, std::chrono::duration_cast<std::chrono::seconds>(turns.now() - begin).count());
  };
  if (holding.saves) {
    hold.lost_at_most = std::min(kLongestInterval, checkpoint->interval_seconds.value_or(kLongestInterval));
    holding.lost_seconds = std::min(seconds_since(holding.running_since), hold.lost_at_most);
  } else if (job.status.start_time) {
    holding.lost_seconds = seconds_since(*job.status.start_time);
  }
  holding.ending_seconds =
      std::chrono::ceil<std::chrono::seconds>(planning::longest_ending(job, pool)).count();
}

// A node that has left the pool belongs to the job until its lease ends.
planning::MilliGpus amount_outside(const Caches& caches, const planning::PoolState& state,
                                   const std::vector<api::NodeRef>& nodes) {
  const auto& spec = state.pool()->spec;
  planning::MilliGpus sum = 0;
  for (const auto& ref : nodes) {
    if (state.members().contains(ref.name)) continue;
    const auto node = caches.newest_nodes.get({"", ref.name});
    if (node == nullptr) continue;
    const auto described = planning::describe_node(*node, spec.gpus.resource_name);
    sum += planning::gpu_amount(*spec.queue, described.model, described.all_gpus());
  }
  return sum;
}

}  // namespace

// granted: what the queue gave to the job, which its status does not show yet; else null.
void PoolQueue::put_hold(planning::PoolState& state, const api::GpuJob& job,
                         const planning::Verdict* granted) {
  advance(state);
  auto& turns = *state.turns();
  const auto key = job.metadata.key();
  const bool holds = planning::holds_nodes(job.status) && job.status.lease;
  if (!holds && granted == nullptr) return state.remove_hold(key);
  const auto& nodes = holds ? job.status.lease->nodes : granted->nodes;
  const auto slices = holds ? job.status.lease->slices : granted->slices;
  planning::TurnHold hold;
  auto& holding = hold.holding;
  holding.tenant = holds ? turns.tenant_of(job) : turns.book().tenants().of(job.metadata.ns).name;
  if (slices > 0) state.shared(describer(state));  // or amount_of() would not know nodes that are new
  holding.amount = state.amount_of(nodes, slices);
  if (slices == 0) holding.amount += amount_outside(caches_, state, nodes);
  for (const auto& node : nodes) holding.nodes.push_back(node.name);
  holding.held_since = holds && job.status.lease->held_since ? *job.status.lease->held_since : turns.now();
  hold.granted = !holds;
  hold.until = planning::latest_end(job, *state.pool(), turns.now());
  hold.awaiting = holds ? planning::awaits_others(job.status) : granted->claim.has_value();
  if (hold.awaiting && !holds) {
    hold.awaits = granted->claim->awaits;
  } else if (hold.awaiting && job.status.lease->turn) {
    hold.awaits = job.status.lease->turn->awaits;
  }
  if (!hold.awaiting && holds) describe_work(job, *state.pool(), turns, hold);
  state.put_hold(key, std::move(hold));
}

planning::Turn PoolQueue::turn_of(planning::PoolState& state, const api::GpuJob& job) {
  const auto& deadline = job.spec.active_deadline_seconds;
  const auto longest = deadline ? planning::longest_hold(job, *state.pool()) : std::nullopt;
  const auto ending =
      longest ? std::chrono::ceil<std::chrono::seconds>(*longest).count() - *deadline : std::int64_t{0};
  return state.turns()->turn_of(job, ending);
}

}  // namespace gpupool::controllers
