#include "controllers/cluster/pool_queue.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/assess_workers.h"
#include "planning/job_status.h"
#include "planning/job_validation.h"
#include "planning/line_entry.h"
#include "planning/replace_nodes.h"

namespace gpupool::controllers {
namespace {

namespace reason = api::reason;

// A machine that was made again under its name carries no taint, and may still run what it did.
bool is_occupied(const Caches& caches, const api::Node& node) {
  if (!planning::lease_taint(node).empty()) return true;
  const auto pods = caches.pods.store().by_index(kByNode, node.metadata.name);
  return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
    return !planning::has_ended(*pod) && caches.job_of(*pod) != nullptr;
  });
}

std::size_t hash_of(const std::string& uid) { return std::hash<std::string>()(uid); }

// That its lease has or has lost.
std::set<std::string> leased_nodes(const std::shared_ptr<const api::GpuJob>& job) {
  if (job == nullptr) return {};
  const auto names = nodes_of(*job);
  return {names.begin(), names.end()};
}

bool shares(const std::shared_ptr<const api::GpuJob>& job) {
  return job != nullptr && job->status.lease && job->status.lease->shared();
}

}  // namespace

void PoolQueue::job_changed(const api::ObjectKey& job) {
  const std::lock_guard lock(changes_mutex_);
  changes_.jobs.insert(job);
}

void PoolQueue::node_changed(const std::string& node) {
  const std::lock_guard lock(changes_mutex_);
  changes_.nodes.insert(node);
}

void PoolQueue::everything_changed() {
  const std::lock_guard lock(changes_mutex_);
  changes_.everything = true;
}

void PoolQueue::arrived(const std::string& job_uid) {
  const std::lock_guard lock(changes_mutex_);
  if (arrivals_.emplace(hash_of(job_uid), last_arrival_ + 1).second) ++last_arrival_;
}

void PoolQueue::departed(const std::string& job_uid) {
  const std::lock_guard lock(changes_mutex_);
  arrivals_.erase(hash_of(job_uid));
}

// A job that is in the cache already and has yet to be announced came after all others.
std::uint64_t PoolQueue::arrival_of(const std::string& job_uid) const {
  const std::lock_guard lock(changes_mutex_);
  const auto found = arrivals_.find(hash_of(job_uid));
  return found == arrivals_.end() ? std::numeric_limits<std::uint64_t>::max() : found->second;
}

PoolState* PoolQueue::find(const std::string& pool) {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : &found->second;
}

void PoolQueue::work_in_changes() {
  Changes changes;
  {
    const std::lock_guard lock(changes_mutex_);
    std::swap(changes, changes_);
  }
  if (changes.everything) start_anew(changes);
  for (const auto& node : changes.nodes) work_in_node(node);
  for (const auto& job : changes.jobs) work_in_job(job);
}

void PoolQueue::start_anew(Changes& changes) {
  pools_.clear();
  jobs_.clear();
  invalid_.clear();
  nodes_.clear();
  holders_.clear();
  sharers_.clear();
  for (const auto& pool : caches_.pools.store().list()) pools_.try_emplace(pool->metadata.name, pool);
  for (const auto& [job, verdict] : granted_) {
    for (const auto& node : verdict.nodes) hold(node.name, verdict.slices > 0, 1);
  }
  for (const auto& node : caches_.newest_nodes.list()) changes.nodes.insert(node->metadata.name);
  for (const auto& job : caches_.newest_jobs.list()) changes.jobs.insert(job->metadata.key());
}

void PoolQueue::work_in_node(const std::string& name) {
  const auto node = caches_.newest_nodes.get({"", name});
  const auto placement = node ? caches_.placement.current()->place(*node) : planning::Placement();
  auto& known = nodes_[name];
  for (const auto& pool : known.excluded_by) {
    if (auto* state = find(pool)) state->readmit(name);
  }
  known.excluded_by.clear();
  for (const auto& exclusion : placement.excluded) {
    if (auto* state = find(exclusion.pool)) state->exclude(name, exclusion);
    known.excluded_by.push_back(exclusion.pool);
  }
  auto* const now = placement.pool ? find(placement.pool->metadata.name) : nullptr;
  auto* const before = find(known.pool);
  if (before != nullptr && before != now) before->remove_member(name);
  if (node == nullptr) {
    nodes_.erase(name);
    return;
  }
  known.pool = now == nullptr ? "" : now->pool()->metadata.name;
  if (now == nullptr) return;
  const auto held = holders_.find(name);
  now->put_member({node, planning::describe_node(*node, now->pool()->spec.gpus.resource_name),
                   is_occupied(caches_, *node), held == holders_.end() ? Holders() : held->second});
}

void PoolQueue::hold(const std::string& node, bool shared, int more) {
  auto& holders = holders_[node];
  (shared ? holders.sharing : holders.whole) += more;
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return;
  if (auto* state = find(known->second.pool)) state->set_holders(node, holders);
}

// Also where the job's lease is on the same nodes as before: it may have other slices there.
void PoolQueue::share(const std::set<std::string>& nodes, const api::ObjectKey& job, bool begins) {
  for (const auto& name : nodes) {
    auto& sharers = sharers_[name];
    if (begins) {
      sharers.insert(job);
    } else {
      sharers.erase(job);
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
    aside_.erase(key);
    asking_.erase(key);
  }
  return before;
}

bool PoolQueue::is_valid(const api::GpuJob& job, const Job& before, const PoolState& state) {
  const auto key = job.metadata.key();
  const bool same = before != nullptr && before->metadata.uid == job.metadata.uid &&
                    before->metadata.generation == job.metadata.generation;
  if (same) return !invalid_.contains(key);
  invalid_.erase(key);
  if (planning::validate_job(job, state.pool().get())) invalid_.insert(key);
  return !invalid_.contains(key);
}

void PoolQueue::work_in_job(const api::ObjectKey& key) {
  const auto job = caches_.newest_jobs.get(key);
  const auto before = exchange_known(key, job);
  const auto leased_before = leased_nodes(before);
  const auto leased = leased_nodes(job);
  const bool was_shared = shares(before);
  const bool shared = shares(job);
  for (const auto& name : leased) {  // first these, so that no node seems free in between
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
      old->remove_waiting(key, {});
    }
  }
  auto* const state = job == nullptr ? nullptr : find(job->spec.pool);
  if (state == nullptr) return;
  if (planning::holds_nodes(job->status)) {
    state->holding.insert(key);
  } else {
    state->holding.erase(key);
  }
  const bool in_line = is_valid(*job, before, *state) && planning::wants_nodes(*job) &&
                       !aside_.contains(key) && (asking_.contains(key) || planning::stands_in_line(*job));
  if (!in_line) {
    state->remove_waiting(key, job->status.lease ? job->status.lease->nodes : std::vector<api::NodeRef>());
  } else if (!granted_.contains(key)) {
    state->put_waiting(job, arrival_of(job->metadata.uid));
  }
}

void PoolQueue::grant(const api::ObjectKey& job, const planning::Verdict& verdict) {
  granted_[job] = verdict;
  for (const auto& node : verdict.nodes) hold(node.name, verdict.slices > 0, 1);
}

void PoolQueue::drop_grant(const api::ObjectKey& job) {
  const auto found = granted_.find(job);
  if (found == granted_.end()) return;
  const auto verdict = std::move(found->second);
  granted_.erase(found);
  for (const auto& node : verdict.nodes) hold(node.name, verdict.slices > 0, -1);
  work_in_job(job);  // it waits again, unless it holds something
}

PoolState::Describe PoolQueue::describer(const PoolState& state) const {
  return [this, &pool = *state.pool()](const Member& member) {
    const auto& name = member.described.name;
    std::vector<std::shared_ptr<const api::GpuJob>> sharers;
    if (const auto here = sharers_.find(name); here != sharers_.end()) {
      // As they were worked in: a lease that is written at this moment is still a grant.
      for (const auto& key : here->second) {
        if (const auto job = jobs_.find(key); job != jobs_.end()) sharers.push_back(*job);
      }
    }
    const auto occupants = slices_.occupants({member.node}, sharers, granted_);
    const auto report = caches_.report_of(*member.node);
    auto node = planning::describe_shared_node(*member.node, report.get(), pool, occupants.at(name));
    node.node.leased = member.holders.whole > 0;
    return node;
  };
}

std::optional<planning::Verdict> PoolQueue::verdict_on_slices(PoolState& state, const api::ObjectKey& job) {
  if (state.line().find(job) == nullptr) return std::nullopt;
  if (state.closed()) return state.closed();
  const auto& all = state.slices(describer(state));
  const auto found = all.find(job);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

planning::Verdict PoolQueue::verdict(const api::GpuJob& job) {
  const auto key = job.metadata.key();
  const std::lock_guard lock(mutex_);
  work_in_changes();
  auto* const state = find(job.spec.pool);
  if (state == nullptr) return {{}, reason::kPoolNotFound, "there is no GpuPool " + job.spec.pool};
  state->come(key);
  const bool by_line = state->plans_nodes();
  if (const auto granted = granted_.find(key); granted != granted_.end()) {
    const auto* still = by_line ? state->given(key) : nullptr;
    if (still != nullptr && *still == granted->second) return *still;
    drop_grant(key);
  }
  aside_.erase(key);
  if (state->line().find(key) == nullptr) {  // the watch has yet to announce it, or it waits elsewhere
    asking_.insert(key);
    work_in_job(key);
  }
  const auto found = by_line ? state->verdict(key) : verdict_on_slices(*state, key);
  if (!found) return {{}, reason::kWaitingForNodes, "waiting for its turn"};
  if (!found->nodes.empty()) {
    state->set_aside(key, *found);
    grant(key, *found);
  }
  return *found;
}

std::vector<api::NodeRef> PoolQueue::replace(const api::GpuJob& job, const std::vector<std::string>& kept) {
  const std::lock_guard lock(mutex_);
  work_in_changes();
  auto* const state = find(job.spec.pool);
  if (state == nullptr || !state->plans_nodes()) return {};
  drop_grant(job.metadata.key());
  std::vector<planning::PoolNode> known;
  for (const auto& [name, member] : state->members()) known.push_back(member.described);
  for (const auto& name : kept) {  // one that has left the pool stays the job's until it ends
    const auto node = caches_.newest_nodes.get({"", name});
    if (node != nullptr && !state->members().contains(name))
      known.push_back(planning::describe_node(*node, state->pool()->spec.gpus.resource_name));
  }
  auto nodes = planning::replace_nodes(*state->pool(), known, job, kept);
  if (!nodes.empty()) grant(job.metadata.key(), {nodes, "", ""});
  return nodes;
}

void PoolQueue::settle(const api::ObjectKey& job) {
  const std::lock_guard lock(mutex_);
  const bool asked = asking_.erase(job) > 0;
  if (!asked && !granted_.contains(job)) return;
  work_in_changes();
  drop_grant(job);
  if (asked) work_in_job(job);
}

void PoolQueue::step_aside(const api::ObjectKey& job) {
  const std::lock_guard lock(mutex_);
  asking_.erase(job);
  if (jobs_.find(job) == jobs_.end()) return;
  aside_.insert(job);
  work_in_changes();
  drop_grant(job);
  work_in_job(job);
}

std::vector<api::ObjectKey> PoolQueue::changed_jobs(const std::string& pool) {
  const std::lock_guard lock(mutex_);
  work_in_changes();
  std::vector<api::ObjectKey> changed;
  auto* const state = find(pool);
  if (state == nullptr) return changed;
  const auto tell = [&](const api::ObjectKey& key, const planning::Verdict& verdict) {
    const auto job = caches_.newest_jobs.get(key);
    if (job == nullptr) return;
    const bool same = job->status.reason == verdict.reason && job->status.message == verdict.message;
    if (!verdict.nodes.empty() || !same) changed.push_back(key);
  };
  if (state->plans_nodes()) {
    for (const auto& job : state->news()) tell(job->metadata.key(), *state->verdict(job->metadata.key()));
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
  const std::lock_guard lock(mutex_);
  work_in_changes();
  auto* const state = find(pool);
  if (newest == nullptr || state == nullptr) return std::nullopt;
  PoolView view{.pool = newest, .members = state->membership(), .nodes = {}, .shared = {}, .holding = {}};
  if (state->pool()->spec.sharing) {
    for (const auto& [name, node] : state->shared(describer(*state))) view.shared.push_back(node);
  } else {
    for (const auto& [name, member] : state->members()) view.nodes.push_back(member.described);
  }
  view.waiting = static_cast<std::int64_t>(state->line().size());
  for (const auto& job : state->holding) view.holding.push_back(job.to_string());
  return view;
}

}  // namespace gpupool::controllers
