#include "controllers/cluster/pool_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/assess_workers.h"
#include "planning/job_status.h"
#include "planning/job_validation.h"
#include "planning/plan_slices.h"
#include "planning/replace_nodes.h"

namespace gpupool::controllers {
namespace {

namespace reason = api::reason;

// A machine that was made again under its name carries no taint, and may still run what it did.
bool is_occupied(const Caches& caches, const api::Node& node) {
  if (!planning::lease_taint(node).empty()) return true;
  const auto pods = caches.pods.store().by_index(kByNode, node.metadata.name);
  return std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return !planning::has_ended(*pod); });
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

void PoolQueue::slices_changed() {
  const std::lock_guard lock(changes_mutex_);
  changes_.slices = true;
}

void PoolQueue::everything_changed() {
  const std::lock_guard lock(changes_mutex_);
  changes_.everything = true;
}

void PoolQueue::arrived(const std::string& job_uid) {
  const std::lock_guard lock(changes_mutex_);
  if (arrivals_.emplace(job_uid, last_arrival_ + 1).second) ++last_arrival_;
}

void PoolQueue::departed(const std::string& job_uid) {
  const std::lock_guard lock(changes_mutex_);
  arrivals_.erase(job_uid);
}

// A job that is in the cache already and has yet to be announced came after all others.
std::uint64_t PoolQueue::arrival_of(const std::string& job_uid) const {
  const std::lock_guard lock(changes_mutex_);
  const auto found = arrivals_.find(job_uid);
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
  if (changes.slices) forget_listed();
}

void PoolQueue::forget_listed() {
  for (auto& [name, state] : pools_) state.listed.reset();
}

void PoolQueue::start_anew(Changes& changes) {
  pools_.clear();
  jobs_.clear();
  nodes_.clear();
  holders_.clear();
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

void PoolQueue::work_in_job(const api::ObjectKey& key) {
  const auto job = caches_.newest_jobs.get(key);
  auto& known = jobs_[key];
  const auto before = std::exchange(known.nodes, {});
  const bool was_shared = known.shared;
  const bool leased = job != nullptr && job->status.lease.has_value();
  known.shared = leased && job->status.lease->shared();
  if (leased) {
    for (auto& name : nodes_of(*job)) known.nodes.insert(std::move(name));
  }
  for (const auto& name : known.nodes) {  // first these, so that no node seems free in between
    if (was_shared != known.shared || !before.contains(name)) hold(name, known.shared, 1);
  }
  for (const auto& name : before) {
    if (was_shared != known.shared || !known.nodes.contains(name)) hold(name, was_shared, -1);
  }
  const bool slices = (was_shared || known.shared) && before != known.nodes;
  if (slices && !granted_.contains(key)) forget_listed();  // a grant has been counted already
  const auto pool = job == nullptr ? std::string() : job->spec.pool;
  if (known.pool != pool) {
    if (auto* old = find(known.pool)) {
      old->holding.erase(key);
      old->remove_waiting(key, {});
    }
  }
  known.pool = pool;
  if (job == nullptr) {
    jobs_.erase(key);
    return;
  }
  auto* const state = find(pool);
  if (state == nullptr) return;
  if (planning::holds_nodes(job->status)) {
    state->holding.insert(key);
  } else {
    state->holding.erase(key);
  }
  if (known.uid != job->metadata.uid || known.generation != job->metadata.generation) {
    known.uid = job->metadata.uid;
    known.generation = job->metadata.generation;
    known.valid = !planning::validate_job(*job, state->pool().get());
  }
  const bool in_line = planning::wants_nodes(*job) && known.valid;
  if (!in_line) {
    state->remove_waiting(key, leased ? job->status.lease->nodes : std::vector<api::NodeRef>());
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

std::vector<planning::SharedNode> PoolQueue::shared_nodes(const PoolState& state) const {
  std::vector<std::shared_ptr<const api::GpuJob>> sharers;
  for (const auto& [key, known] : jobs_) {
    if (!known.shared) continue;
    if (auto job = caches_.newest_jobs.get(key)) sharers.push_back(std::move(job));
  }
  std::vector<std::shared_ptr<const api::Node>> nodes;
  for (const auto& [name, member] : state.members()) nodes.push_back(member.node);
  auto occupants = slices_.occupants(nodes, sharers, granted_);
  std::vector<planning::SharedNode> described;
  for (const auto& [name, member] : state.members()) {
    const auto report = caches_.report_of(*member.node);
    described.push_back(
        planning::describe_shared_node(*member.node, report.get(), *state.pool(), occupants[name]));
    if (member.holders.whole > 0) described.back().node.leased = true;
  }
  return described;
}

const PoolQueue::Verdicts& PoolQueue::listed(PoolState& state) {
  if (state.listed) return *state.listed;
  const auto& pool = *state.pool();
  if (const auto& shut = state.closed()) {
    state.listed.emplace();
    for (const auto& job : state.line().in_order()) (*state.listed)[job->metadata.key()] = *shut;
  } else {
    state.listed = planning::plan_slices(pool, shared_nodes(state), state.line());
  }
  return *state.listed;
}

planning::Verdict PoolQueue::verdict(const api::GpuJob& job) {
  const auto key = job.metadata.key();
  const std::lock_guard lock(mutex_);
  work_in_changes();
  auto* const state = find(job.spec.pool);
  if (state == nullptr) return {{}, reason::kPoolNotFound, "there is no GpuPool " + job.spec.pool};
  const bool by_line = state->plans_nodes();
  if (const auto granted = granted_.find(key); granted != granted_.end()) {
    const auto* still = by_line ? state->given(key) : nullptr;
    if (still != nullptr && *still == granted->second) return *still;
    drop_grant(key);
  }
  if (state->line().find(key) == nullptr) work_in_job(key);  // the watch has yet to announce it
  std::optional<planning::Verdict> found;
  if (by_line) {
    found = state->verdict(key);
  } else {
    const auto& all = listed(*state);
    if (const auto mine = all.find(key); mine != all.end()) found = mine->second;
  }
  if (!found) return {{}, reason::kWaitingForNodes, "waiting for its turn"};
  if (!found->nodes.empty()) {
    state->set_aside(key);
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
  if (!granted_.contains(job)) return;
  work_in_changes();
  drop_grant(job);
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
    for (const auto& [key, verdict] : listed(*state)) tell(key, verdict);
  }
  return changed;
}

std::optional<PoolView> PoolQueue::view(const std::string& pool) {
  const auto newest = caches_.pools.store().get({"", pool});
  const std::lock_guard lock(mutex_);
  work_in_changes();
  const auto* const state = find(pool);
  if (newest == nullptr || state == nullptr) return std::nullopt;
  PoolView view{.pool = newest, .members = state->membership(), .nodes = {}, .shared = {}, .holding = {}};
  if (state->pool()->spec.sharing) {
    view.shared = shared_nodes(*state);
  } else {
    for (const auto& [name, member] : state->members()) view.nodes.push_back(member.described);
  }
  view.waiting = static_cast<std::int64_t>(state->line().size());
  for (const auto& job : state->holding) view.holding.push_back(job.to_string());
  return view;
}

}  // namespace gpupool::controllers
