// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/pool_state.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/nodes/node_gpus.h"
#include "planning/nodes/pool_validation.h"
#include "planning/queue/verdict.h"
#include "planning/slices/shared_node.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

std::optional<Verdict> why_closed(const api::GpuPool& pool) {
  const auto& name = pool.metadata.name;
  if (pool.metadata.deleting()) {
    return Verdict{{}, reason::kPoolStopping, "pool " + name + " is being deleted"};
  }
  if (auto problem = validate_pool(pool)) {
    return Verdict{{}, reason::kPoolStalled, "pool " + name + ": " + problem->message};
  }
  // Without the finalizer, a deletion of the pool would take it away from a running job.
  if (!pool.metadata.has_finalizer(api::kPoolFinalizer)) {
    return Verdict{{}, reason::kWaitingForNodes, "pool " + name + " is being set up"};
  }
  return std::nullopt;
}

}  // namespace

PoolState::PoolState(std::shared_ptr<const api::GpuPool> pool, TenantBook* book, base::WallTime prices_of)
    : pool_(std::move(pool)),
      closed_(why_closed(*pool_)),
      line_(pool_->spec.worker_resource(), pool_->spec.near, prices_at(*pool_, prices_of)) {
  if (book != nullptr) turns_.emplace(pool_, *book);
}

void PoolState::advance(base::WallTime now) {
  if (!turns_) return;
  turns_->advance(now);
  if (slice_plan_ && slice_plan_->look_again() && *slice_plan_->look_again() <= now) slice_plan_.reset();
}

std::optional<base::WallTime> PoolState::look_again() const {
  if (slice_plan_) return slice_plan_->look_again();
  const auto* plan = turns_ ? turns_->plan() : nullptr;
  return plan == nullptr ? std::nullopt : plan->look_again();
}

void PoolState::put_hold(const api::ObjectKey& job, TurnHold hold) {
  if (turns_->put_hold(job, std::move(hold))) slice_plan_.reset();
}

void PoolState::forget_plan() {
  plan_.reset();
  if (turns_) turns_->forget_plan();
  slice_plan_.reset();
}

void PoolState::put_member(Member member) {
  const auto known = members_.find(member.described.name);
  if (known != members_.end()) {
    member.described.leased = known->second.described.leased;
    if (known->second.described == member.described) {
      known->second.node = std::move(member.node);
      known->second.described.object = std::move(member.described.object);  // its labels are the same
      known->second.occupied = member.occupied;
      known->second.holders = member.holders;
      update_leased(known->second);
      return touch(member.described.name);
    }
  }
  forget_plan();  // first, because it points to what changes now
  auto& kept = members_[member.described.name];
  kept = std::move(member);
  update_leased(kept);
  touch(kept.described.name);
}

void PoolState::remove_member(const std::string& node) {
  forget_plan();
  members_.erase(node);
  shared_.erase(node);
  touched_.erase(node);
}

void PoolState::set_holders(const std::string& node, const Holders& holders) {
  const auto known = members_.find(node);
  if (known == members_.end()) return;
  known->second.holders = holders;
  update_leased(known->second);
  touch(node);
}

void PoolState::update_leased(Member& member) {
  const bool leased = member.occupied || member.holders.whole + member.holders.sharing > 0;
  if (leased == member.described.leased) return;
  // The plan expects that jobs take the nodes that it gave them.
  if (plan_ && !(leased && plan_->gave(member.described))) plan_.reset();
  const auto* turns = turns_ ? turns_->plan() : nullptr;
  if (turns != nullptr && !(leased && turns->gave(member.described))) turns_->forget_plan();
  member.described.leased = leased;
}

void PoolState::exclude(const std::string& node, const NodeMembership::Exclusion& why) {
  excluded_[node] = why;
}

void PoolState::readmit(const std::string& node) { excluded_.erase(node); }

Members PoolState::membership() const {
  Members found;
  for (const auto& [name, member] : members_) found.nodes.push_back(member.node);
  for (const auto& [name, exclusion] : excluded_) {
    found.excluded.push_back({name, exclusion.why});
    found.in_older_pool = found.in_older_pool || exclusion.older_pool;
  }
  return found;
}

void PoolState::put_waiting(Job job, std::uint64_t arrival, std::vector<std::string> avoided, Turn turn) {
  const auto key = job->metadata.key();
  const bool known = line_.find(key) != nullptr;
  if (!line_.put(std::move(job), arrival, std::move(avoided), std::move(turn))) return;
  const auto& entry = *line_.find(key);
  if (turns_) {
    const bool alone = entry.group().jobs.size() == 1;  // the group is new, also if its number is not
    if (alone) turns_->forget_told(entry.group());
    const auto* plan = turns_->plan();
    if (plan != nullptr && !known && !alone && plan->refusal(entry.group()) != TurnPlan::Cause::kNone) return;
    return forget_plan();
  }
  if (plan_ && !known && plan_->is_last(entry.position())) return plan_->append(entry);
  if (slice_plan_ && !known && slice_plan_->is_last(entry.position())) {
    return slice_plan_->append(entry);
  }
  forget_plan();
}

void PoolState::remove_waiting(const api::ObjectKey& job, const std::vector<api::NodeRef>& nodes) {
  const bool waited = line_.find(job) != nullptr;
  line_.remove(job);
  notified_.erase(job);
  if (waited) slice_plan_.reset();
  if (const auto* turns = turns_ ? turns_->plan() : nullptr) {
    const auto given = turns->granted().find(job);
    if (given == turns->granted().end() ? waited : given->second.nodes != nodes) turns_->forget_plan();
  }
  if (!plan_) return;
  const auto got = plan_->granted().find(job);
  if (got == plan_->granted().end() ? waited : got->second.nodes != nodes) plan_.reset();
}

void PoolState::reserve(const api::ObjectKey& job, const Verdict& given) {
  const auto* entry = line_.find(job);
  if (slice_plan_ && entry != nullptr && !slice_plan_->leave(entry->position())) slice_plan_.reset();
  const auto each = taken_by_worker(entry == nullptr ? Resources() : entry->demand().needs.requests);
  line_.remove(job);
  for (const auto& ref : given.nodes) {  // the plan has counted these already
    const auto node = shared_.find(ref.name);
    if (node == shared_.end()) continue;
    for (std::int64_t i = 0; i < ref.workers; ++i) {
      add_claim(node->second, given.slices);
      node->second.requested += each;
    }
  }
}

// Its tenant may have more now, also if no node of the pool comes free: another job may have claimed it, or
// it has left the pool.
void PoolState::remove_hold(const api::ObjectKey& job) {
  if (turns_->remove_hold(job)) forget_plan();
}

void PoolState::take_past_line(const std::vector<api::NodeRef>& nodes) {
  for (const auto& ref : nodes) {
    const auto member = members_.find(ref.name);
    if (member == members_.end()) continue;
    if (plan_ && plan_->gave(member->second.described)) plan_.reset();
    const auto* turns = turns_ ? turns_->plan() : nullptr;
    if (turns != nullptr && turns->gave(member->second.described)) turns_->forget_plan();
  }
}

void PoolState::touch(const std::string& node) {
  if (pool_->spec.sharing && members_.contains(node)) touched_.insert(node);
}

const std::map<std::string, SharedNode>& PoolState::shared(const Describe& describe) {
  for (const auto& name : touched_) {
    auto now = describe(members_.at(name), {});
    const auto known = shared_.find(name);
    if (known != shared_.end() && known->second == now) {
      known->second.node.object = std::move(now.node.object);  // its labels are the same
      continue;
    }
    slice_plan_.reset();
    shared_.insert_or_assign(name, std::move(now));
  }
  touched_.clear();
  return shared_;
}

const PoolState::Verdicts& PoolState::slices(const Describe& describe) {
  const auto& nodes = shared(describe);
  if (!slice_plan_) {
    std::vector<SharedNode> members;
    members.reserve(nodes.size());
    for (const auto& [name, node] : nodes) members.push_back(node);
    if (turns_) {
      const auto amount = [this](const Verdict& verdict) { return amount_of(verdict.nodes, verdict.slices); };
      const auto without = [&](const std::string& node, const Leaving& leaving) {
        return describe(members_.at(node), leaving);
      };
      const auto holders = [this] { return turns_->holders(); };
      slice_plan_.emplace(*pool_, std::move(members), line_,
                          SliceTurnInput{turns_->shares(), amount, turns_->now(), holders, without});
    } else {
      slice_plan_.emplace(*pool_, std::move(members), line_);
    }
  }
  return slice_plan_->verdicts();
}

std::vector<const PoolNode*> PoolState::nodes() const {
  std::vector<const PoolNode*> nodes;
  nodes.reserve(members_.size());
  for (const auto& [name, member] : members_) nodes.push_back(&member.described);
  return nodes;
}

QueuePlan& PoolState::plan() {
  if (!plan_) {
    plan_.emplace(pool_, nodes(), line_);
    told_grants_ = 0;
  }
  return *plan_;
}

TurnPlan& PoolState::turn_plan() {
  if (turns_->plan() != nullptr) return *turns_->plan();
  told_grants_ = 0;
  return turns_->plan(nodes(), line_);
}

MilliGpus PoolState::amount_of(const std::vector<api::NodeRef>& refs, std::int64_t slices) const {
  const auto& queue = *pool_->spec.queue;
  MilliGpus sum = 0;
  for (const auto& ref : refs) {
    if (slices > 0) {
      const auto node = shared_.find(ref.name);
      if (node != shared_.end()) sum += amount_on(node->second, *pool_, ref.workers, slices);
    } else if (const auto member = members_.find(ref.name); member != members_.end()) {
      const auto& node = member->second.described;
      sum += gpu_amount(queue, node.model, node.all_gpus());
    }
  }
  return sum;
}

std::optional<Verdict> PoolState::verdict(const api::ObjectKey& job) {
  const auto* entry = line_.find(job);
  if (entry == nullptr) return std::nullopt;
  if (turns_) {
    auto verdict = turn_plan().verdict(*entry);
    if (!verdict) {
      turns_->forget_plan();
      verdict = turn_plan().verdict(*entry);
    }
    if (verdict && verdict->nodes.empty()) turns_->places().show(*entry->job(), *verdict->turn);
    return verdict;
  }
  if (auto verdict = plan().verdict(*entry)) return verdict;
  plan_.reset();  // the plan does not contain the job
  return plan().verdict(*entry);
}

const Verdict* PoolState::given(const api::ObjectKey& job) const {
  if (const auto* turns = turns_ ? turns_->plan() : nullptr) {
    const auto got = turns->granted().find(job);
    return got == turns->granted().end() ? nullptr : &got->second;
  }
  if (!plan_) return nullptr;
  const auto got = plan_->granted().find(job);
  return got == plan_->granted().end() ? nullptr : &got->second;
}

std::vector<PoolState::Job> PoolState::take_notifications() {
  std::vector<Job> told_anew;
  const auto tell = [&](const api::ObjectKey& key) {
    const auto* entry = line_.find(key);
    if (entry != nullptr) told_anew.push_back(entry->job());
  };
  if (turns_) {
    auto& turns = turn_plan();
    for (; told_grants_ < turns.grants().size(); ++told_grants_) {
      if (notified_.insert(turns.grants()[told_grants_]).second) tell(turns.grants()[told_grants_]);
    }
    turns_->tell_refused(line_, [&](const Job& job) { told_anew.push_back(job); });
    for (const auto& key : turns_->take_replaced()) tell(key);
    return told_anew;
  }
  for (const auto& grants = plan().grants(); told_grants_ < grants.size(); ++told_grants_) {
    if (notified_.insert(grants[told_grants_]).second) tell(grants[told_grants_]);
  }
  for (const auto& [demand, refusal] : plan().refused()) {
    const auto before = told_.find(demand);
    if (before == told_.end() || before->second.to_others != refusal.to_others) {
      const auto group = line_.groups().find(demand);
      if (group == line_.groups().end()) continue;
      for (const auto& [position, job] : group->second.jobs) told_anew.push_back(job);
    } else if (before->second.first != refusal.first || before->second.to_first != refusal.to_first) {
      tell(refusal.first);
      if (!plan().granted().contains(before->second.first)) tell(before->second.first);
    }
  }
  told_ = plan().refused();
  return told_anew;
}

}  // namespace gpupool::planning
