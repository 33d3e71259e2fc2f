// SPDX-License-Identifier: Apache-2.0
#include "controllers/queue/pool_queue.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "controllers/cluster/changes.h"
#include "controllers/queue/foreign_share.h"
#include "planning/job/job_status.h"
#include "planning/job/job_validation.h"
#include "planning/job/line_entry.h"
#include "planning/nodes/lease_marks.h"
#include "planning/queue/replace_nodes.h"
#include "planning/workers/pod_end.h"

namespace gpupool::controllers {
namespace {

namespace reason = api::reason;

// A machine whose Node object was created anew has no taint, but its old processes may still run.
bool is_occupied(const Caches& caches, const api::Node& node) {
  if (!planning::lease_taint(node).empty()) return true;
  const auto pods = caches.pods.store().by_index(kByNode, node.metadata.name);
  return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
    return !planning::has_ended(*pod) && caches.job_of(*pod) != nullptr;
  });
}

planning::PoolNode describe_member(const Caches& caches, const std::shared_ptr<const api::Node>& node,
                                   const api::GpuPool& pool) {
  const auto& resource = pool.spec.gpus.resource_name;
  auto described = planning::describe_node(*node, resource);
  described.object = node;
  planning::subtract(described, foreign_share(caches, node->metadata.name, resource));
  return described;
}

// Returns the nodes in the job's lease, lost ones included.
std::set<std::string> leased_nodes(const std::shared_ptr<const api::GpuJob>& job) {
  if (job == nullptr) return {};
  const auto names = nodes_of(*job);
  return {names.begin(), names.end()};
}

bool shares(const std::shared_ptr<const api::GpuJob>& job) {
  return job != nullptr && job->status.lease && job->status.lease->shared();
}

// Whether the job has been told this place and start.
bool tells_place(const api::GpuJobStatus& status, const base::Boxed<api::JobQueueStatus>& turn) {
  if (!turn) return true;
  const auto shown =
      status.progress && status.progress->queue ? *status.progress->queue : api::JobQueueStatus();
  return shown.place == turn->place && shown.estimated_start == turn->estimated_start &&
         shown.basis == turn->basis;
}

}  // namespace

planning::PoolState* PoolQueue::find(const std::string& pool) {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : &found->second;
}

void PoolQueue::work_in_changes() {
  Changes changes;
  {
    const base::MutexLock lock(changes_mutex_);
    std::swap(changes, changes_);
  }
  if (prices_until_ && clock_.wall() >= *prices_until_) changes.everything = true;
  if (changes.everything) start_anew(changes);
  for (const auto& node : changes.nodes) work_in_node(node);
  for (const auto& job : changes.jobs) work_in_job(job);
  if (changes.everything) settle_holds();
}

void PoolQueue::start_anew(Changes& changes) {
  pools_.clear();
  jobs_.clear();
  invalid_.clear();
  nodes_.clear();
  holders_.clear();
  sharers_.clear();
  prices_until_.reset();
  close_books();
  for (const auto& pool : caches_.pools.store().list()) open_pool(pool);
  for (const auto& [job, verdict] : granted_) {
    for (const auto& node : verdict.nodes) hold(node.name, verdict.slices > 0, 1);
  }
  for (const auto& node : caches_.newest_nodes.list()) changes.nodes.insert(node->metadata.name);
  for (const auto& job : caches_.newest_jobs.list()) changes.jobs.insert(job->metadata.key());
}

void PoolQueue::work_in_node(const std::string& name) {
  const auto node = caches_.newest_nodes.get({"", name});
  const auto membership = node ? caches_.membership.get()->of(*node) : planning::NodeMembership();
  auto& known = nodes_[name];
  for (const auto& pool : known.excluded_by) {
    if (auto* state = find(pool)) state->readmit(name);
  }
  known.excluded_by.clear();
  for (const auto& exclusion : membership.excluded) {
    if (auto* state = find(exclusion.pool)) state->exclude(name, exclusion);
    known.excluded_by.push_back(exclusion.pool);
  }
  auto* const now = membership.pool ? find(membership.pool->metadata.name) : nullptr;
  auto* const before = find(known.pool);
  if (before != nullptr && before != now) before->remove_member(name);
  if (node == nullptr) {
    nodes_.erase(name);
    return;
  }
  known.pool = now == nullptr ? "" : now->pool()->metadata.name;
  if (now == nullptr) return;
  const auto held = holders_.find(name);
  now->put_member({node, describe_member(caches_, node, *now->pool()), is_occupied(caches_, *node),
                   held == holders_.end() ? planning::Holders() : held->second});
}

void PoolQueue::hold(const std::string& node, bool shared, int more) {
  auto& holders = holders_[node];
  (shared ? holders.sharing : holders.whole) += more;
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return;
  if (auto* state = find(known->second.pool)) state->set_holders(node, holders);
}

// Also if the lease is on the same nodes as before, because it may have other slices there.
void PoolQueue::share(const std::set<std::string>& nodes, const api::ObjectKey& job, bool begins) {
  for (const auto& name : nodes) {
    auto& sharers = sharers_[name];
    if (begins) {
      sharers.insert(job);
    } else {
      sharers.erase(job);
      requests_.erase(job);
    }
    if (sharers.empty()) sharers_.erase(name);
    const auto known = nodes_.find(name);
    if (known == nodes_.end()) continue;
    if (auto* state = find(known->second.pool)) state->touch(name);
  }
}

PoolQueue::Job PoolQueue::exchange_known(const api::ObjectKey& key, const Job& job) {
  Job before;
  if (const auto known = jobs_.find(key); known != jobs_.end()) {
    before = *known;
    jobs_.erase(known);
  }
  if (job != nullptr) {
    jobs_.insert(job);
  } else {
    invalid_.erase(key);
    absent_.erase(key);
    asking_.erase(key);
    refused_.erase(key);
    requests_.erase(key);
  }
  return before;
}

// Of the lease's nodes, those that have a worker which was not refused are not the cause; if that leaves
// none, all may be.
void PoolQueue::note_refusal(const Job& before, const api::GpuJob& job) {
  const auto key = job.metadata.key();
  const auto& status = job.status;
  const bool changed = before != nullptr && (before->metadata.uid != job.metadata.uid ||
                                             before->metadata.generation != job.metadata.generation);
  if (changed || status.phase == api::phase::kRunning) refused_.erase(key);
  if (status.reason != reason::kPlacementRefused || !status.lease) return;
  std::set<std::string> all;
  for (const auto& node : status.lease->nodes) all.insert(node.name);
  auto bad = all;
  for (const auto& pod : caches_.pods.store().by_index(kByJobUid, job.metadata.uid)) {
    if (pod->metadata.label(api::kLease) == status.lease->id && pod->status.phase != "Failed")
      bad.erase(pod->spec.node_name);
  }
  refused_[key].merge(bad.empty() ? all : bad);
}

bool PoolQueue::is_valid(const api::GpuJob& job, const Job& before, const planning::PoolState& state) {
  const auto key = job.metadata.key();
  const bool same = before != nullptr && before->metadata.uid == job.metadata.uid &&
                    before->metadata.generation == job.metadata.generation;
  if (same) return !invalid_.contains(key);
  invalid_.erase(key);
  if (planning::validate_job(job, state.pool().get(), *caches_.template_fields.get())) invalid_.insert(key);
  return !invalid_.contains(key);
}

void PoolQueue::work_in_job(const api::ObjectKey& key) {
  const auto job = caches_.newest_jobs.get(key);
  const auto before = exchange_known(key, job);
  if (job != nullptr) note_refusal(before, *job);
  const auto leased_before = leased_nodes(before);
  const auto leased = leased_nodes(job);
  const bool was_shared = shares(before);
  const bool shared = shares(job);
  for (const auto& name : leased) {  // before the next loop, so that no node appears free in between
    if (was_shared != shared || !leased_before.contains(name)) hold(name, shared, 1);
  }
  for (const auto& name : leased_before) {
    if (was_shared != shared || !leased.contains(name)) hold(name, was_shared, -1);
  }
  if (was_shared) share(leased_before, key, false);
  if (shared) share(leased, key, true);
  if (before != nullptr && (job == nullptr || before->spec.pool != job->spec.pool)) {
    if (auto* old = find(before->spec.pool)) {
      old->holding.erase(key);
      old->awaiting.erase(key);
      old->remove_waiting(key, {});
      if (old->turns() != nullptr) old->remove_hold(key);
    }
  }
  auto* const state = job == nullptr ? nullptr : find(job->spec.pool);
  if (state == nullptr) return;
  if (planning::awaits_others(job->status)) {
    state->holding.erase(key);
    state->awaiting.insert(key);
  } else if (planning::holds_nodes(job->status)) {
    state->awaiting.erase(key);
    state->holding.insert(key);
  } else {
    state->holding.erase(key);
    state->awaiting.erase(key);
  }
  if (state->turns() != nullptr) {
    const auto granted = granted_.find(key);
    put_hold(*state, *job, granted == granted_.end() ? nullptr : &granted->second);
  }
  const bool in_line = is_valid(*job, before, *state) && planning::wants_nodes(*job) &&
                       !absent_.contains(key) && (asking_.contains(key) || planning::stands_in_line(*job));
  if (!in_line) {
    state->remove_waiting(key, job->status.lease ? job->status.lease->nodes : std::vector<api::NodeRef>());
  } else if (!granted_.contains(key)) {
    const auto refused = refused_.find(key);
    state->put_waiting(job, arrival_of(job->metadata.uid),
                       refused == refused_.end()
                           ? std::vector<std::string>()
                           : std::vector(refused->second.begin(), refused->second.end()),
                       state->turns() == nullptr ? planning::Turn() : turn_of(*state, *job));
  }
}

Ticket PoolQueue::grant(const api::GpuJob& job, const planning::Verdict& verdict) {
  const auto key = job.metadata.key();
  if (!verdict.nodes.empty()) {
    granted_[key] = verdict;
    for (const auto& node : verdict.nodes) hold(node.name, verdict.slices > 0, 1);
    auto* const state = find(job.spec.pool);
    if (state != nullptr && state->turns() != nullptr) put_hold(*state, job, &verdict);
  }
  return {*this, key, verdict};
}

void PoolQueue::drop_grant(const api::ObjectKey& job) {
  const auto found = granted_.find(job);
  if (found == granted_.end()) return;
  const auto verdict = std::move(found->second);
  granted_.erase(found);
  requests_.erase(job);
  for (const auto& node : verdict.nodes) hold(node.name, verdict.slices > 0, -1);
  work_in_job(job);  // puts it back in the line, unless it holds nodes
}

Ticket PoolQueue::ask(const api::GpuJob& job) {
  const auto key = job.metadata.key();
  const base::MutexLock lock(mutex_);
  work_in_changes();
  auto* const state = find(job.spec.pool);
  if (state == nullptr)
    return grant(job, {{}, reason::kPoolNotFound, "there is no GpuPool " + job.spec.pool});
  state->clear_notified(key);
  advance(*state);
  const bool by_line = state->plans_nodes();
  if (const auto granted = granted_.find(key); granted != granted_.end()) {
    const auto* still = by_line ? state->given(key) : nullptr;
    if (still != nullptr && *still == granted->second) return {*this, key, *still};
    drop_grant(key);
  }
  absent_.erase(key);
  if (state->line().find(key) ==
      nullptr) {  // the watch has not announced it yet, or it waits in another pool
    asking_.insert(key);
    work_in_job(key);
  }
  const auto found = by_line ? state->verdict(key) : verdict_on_slices(*state, key);
  if (!found) return grant(job, {{}, reason::kWaitingForNodes, "waiting for its turn"});
  if (!found->nodes.empty()) state->reserve(key, *found);
  return grant(job, *found);
}

Ticket PoolQueue::replace(const api::GpuJob& job, const std::vector<std::string>& kept) {
  const base::MutexLock lock(mutex_);
  work_in_changes();
  auto* const state = find(job.spec.pool);
  if (state == nullptr || !state->plans_nodes()) return grant(job, {});
  advance(*state);
  drop_grant(job.metadata.key());
  std::vector<planning::PoolNode> known;
  for (const auto& [name, member] : state->members()) known.push_back(member.described);
  for (const auto& name :
       kept) {  // a node that has left the pool still belongs to the job until the lease ends
    const auto node = caches_.newest_nodes.get({"", name});
    if (node != nullptr && !state->members().contains(name))
      known.push_back(describe_member(caches_, node, *state->pool()));
  }
  auto nodes = planning::replace_nodes(*state->pool(), known, job, kept);
  state->take_past_line(nodes);
  return grant(job, {std::move(nodes), "", ""});
}

void PoolQueue::end_ticket(const api::ObjectKey& job) {
  const base::MutexLock lock(mutex_);
  const bool asked = asking_.erase(job) > 0;
  if (!asked && !granted_.contains(job)) return;
  work_in_changes();
  drop_grant(job);
  if (asked) work_in_job(job);
}

void PoolQueue::leave(const api::ObjectKey& job) {
  const base::MutexLock lock(mutex_);
  asking_.erase(job);
  if (jobs_.find(job) == jobs_.end()) return;
  absent_.insert(job);
  work_in_changes();
  drop_grant(job);
  work_in_job(job);
}

void PoolQueue::notify(const std::string& pool) {
  for (const auto& job : changed_jobs(pool)) on_notify_(job);
}

std::vector<api::ObjectKey> PoolQueue::changed_jobs(const std::string& pool) {
  const base::MutexLock lock(mutex_);
  work_in_changes();
  std::vector<api::ObjectKey> changed;
  auto* const state = find(pool);
  if (state == nullptr) return changed;
  advance(*state);
  const auto tell = [&](const api::ObjectKey& key, const planning::Verdict& verdict) {
    const auto job = caches_.newest_jobs.get(key);
    if (job == nullptr) return;
    const bool same = job->status.reason == verdict.reason && job->status.message == verdict.message &&
                      tells_place(job->status, verdict.turn);
    if (!verdict.nodes.empty() || !same) changed.push_back(key);
  };
  if (state->plans_nodes()) {
    for (const auto& job : state->take_notifications())
      tell(job->metadata.key(), *state->verdict(job->metadata.key()));
  } else {
    for (const auto& job : state->line().in_order()) {
      const auto& key = job->metadata.key();
      if (const auto verdict = verdict_on_slices(*state, key)) tell(key, *verdict);
    }
  }
  return changed;
}

std::optional<PoolView> PoolQueue::view(const std::string& pool) {
  const auto newest = caches_.pools.store().get({"", pool});
  const base::MutexLock lock(mutex_);
  work_in_changes();
  auto* const state = find(pool);
  if (newest == nullptr || state == nullptr) return std::nullopt;
  PoolView view{.pool = newest,
                .members = state->membership(),
                .nodes = {},
                .shared = {},
                .holding = {},
                .to_leave = {}};
  for (const auto& [name, member] : state->members()) {
    if (!member.described.draining) continue;
    for (const auto& job : caches_.jobs.store().by_index(kByHeldNode, name)) {
      auto& first = view.to_leave[name];  // always the same one, because a change is a write
      const auto key = job->metadata.key().to_string();
      if (first.empty() || key < first) first = key;
    }
  }
  if (state->pool()->spec.sharing) {
    for (const auto& [name, node] : state->shared(describer(*state))) view.shared.push_back(node);
  } else {
    for (const auto& [name, member] : state->members()) view.nodes.push_back(member.described);
  }
  advance(*state);
  if (auto* turns = state->turns()) view.queue = turns->status(state->line());
  view.waiting = static_cast<std::int64_t>(state->line().size() + state->awaiting.size());
  for (const auto& job : state->holding) view.holding.push_back(job.to_string());
  return view;
}

}  // namespace gpupool::controllers
