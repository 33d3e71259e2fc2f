#include "controllers/cluster/pool_state.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/pool_status.h"

namespace gpupool::controllers {
namespace {

namespace reason = api::reason;

std::optional<planning::Verdict> why_closed(const api::GpuPool& pool) {
  const auto& name = pool.metadata.name;
  if (pool.metadata.deleting()) {
    return planning::Verdict{{}, reason::kPoolStopping, "pool " + name + " is being deleted"};
  }
  if (auto problem = planning::validate_pool(pool)) {
    return planning::Verdict{{}, reason::kPoolStalled, "pool " + name + ": " + problem->message};
  }
  // Whoever deletes the pool now would take it from under a job that runs.
  if (!pool.metadata.has_finalizer(api::kPoolFinalizer)) {
    return planning::Verdict{{}, reason::kWaitingForNodes, "pool " + name + " is being set up"};
  }
  return std::nullopt;
}

}  // namespace

PoolState::PoolState(std::shared_ptr<const api::GpuPool> pool)
    : pool_(std::move(pool)), closed_(why_closed(*pool_)) {}

void PoolState::forget_plan() {
  plan_.reset();
  slice_plan_.reset();
}

void PoolState::put_member(Member member) {
  const auto known = members_.find(member.described.name);
  if (known != members_.end()) {
    member.described.leased = known->second.described.leased;
    if (known->second.described == member.described) {
      known->second.node = std::move(member.node);
      known->second.occupied = member.occupied;
      known->second.holders = member.holders;
      update_leased(known->second);
      return touch(member.described.name);
    }
  }
  forget_plan();  // before what it points to changes
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
  // That a job takes what the plan gave it is what the plan counts on.
  if (plan_ && !(leased && plan_->gave(member.described))) plan_.reset();
  member.described.leased = leased;
}

void PoolState::exclude(const std::string& node, const planning::Placement::Exclusion& why) {
  excluded_[node] = why;
}

void PoolState::readmit(const std::string& node) { excluded_.erase(node); }

planning::Members PoolState::membership() const {
  planning::Members found;
  for (const auto& [name, member] : members_) found.nodes.push_back(member.node);
  for (const auto& [name, exclusion] : excluded_) {
    found.excluded.push_back({name, exclusion.why});
    found.in_older_pool = found.in_older_pool || exclusion.older_pool;
  }
  return found;
}

void PoolState::put_waiting(Job job, std::uint64_t arrival) {
  const auto key = job->metadata.key();
  const bool known = line_.find(key) != nullptr;
  if (!line_.put(std::move(job), arrival)) return;
  const auto& where = *line_.find(key);
  if (plan_ && !known && plan_->is_last(where.place())) return plan_->append(where);
  if (slice_plan_ && !known && slice_plan_->is_last(where.place())) {
    return slice_plan_->append(where.place(), *where.job());
  }
  forget_plan();
}

void PoolState::remove_waiting(const api::ObjectKey& job, const std::vector<api::NodeRef>& nodes) {
  const bool waited = line_.find(job) != nullptr;
  line_.remove(job);
  called_.erase(job);
  if (waited) slice_plan_.reset();
  if (!plan_) return;
  const auto got = plan_->granted().find(job);
  if (got == plan_->granted().end() ? waited : got->second.nodes != nodes) plan_.reset();
}

void PoolState::set_aside(const api::ObjectKey& job, const planning::Verdict& given) {
  const auto* where = line_.find(job);
  if (slice_plan_ && where != nullptr && !slice_plan_->leave(where->place())) slice_plan_.reset();
  line_.remove(job);
  for (const auto& ref : given.nodes) {  // as the plan has counted it
    const auto node = shared_.find(ref.name);
    if (node == shared_.end()) continue;
    for (std::int64_t i = 0; i < ref.workers; ++i) planning::add_claim(node->second, given.slices);
  }
}

void PoolState::touch(const std::string& node) {
  if (pool_->spec.sharing && members_.contains(node)) touched_.insert(node);
}

const std::map<std::string, planning::SharedNode>& PoolState::shared(const Describe& describe) {
  for (const auto& name : touched_) {
    auto now = describe(members_.at(name));
    const auto known = shared_.find(name);
    if (known != shared_.end() && known->second == now) continue;
    slice_plan_.reset();
    shared_.insert_or_assign(name, std::move(now));
  }
  touched_.clear();
  return shared_;
}

const PoolState::Verdicts& PoolState::slices(const Describe& describe) {
  const auto& nodes = shared(describe);
  if (!slice_plan_) {
    std::vector<planning::SharedNode> members;
    members.reserve(nodes.size());
    for (const auto& [name, node] : nodes) members.push_back(node);
    slice_plan_.emplace(*pool_, std::move(members), line_);
  }
  return slice_plan_->verdicts();
}

planning::QueuePlan& PoolState::plan() {
  if (!plan_) {
    std::vector<const planning::PoolNode*> nodes;
    nodes.reserve(members_.size());
    for (const auto& [name, member] : members_) nodes.push_back(&member.described);
    plan_.emplace(pool_, nodes, line_);
    told_grants_ = 0;
  }
  return *plan_;
}

std::optional<planning::Verdict> PoolState::verdict(const api::ObjectKey& job) {
  const auto* where = line_.find(job);
  if (where == nullptr) return std::nullopt;
  if (auto verdict = plan().verdict(*where)) return verdict;
  plan_.reset();  // it is older than the job
  return plan().verdict(*where);
}

const planning::Verdict* PoolState::given(const api::ObjectKey& job) const {
  if (!plan_) return nullptr;
  const auto got = plan_->granted().find(job);
  return got == plan_->granted().end() ? nullptr : &got->second;
}

std::vector<PoolState::Job> PoolState::news() {
  std::vector<Job> told_anew;
  const auto tell = [&](const api::ObjectKey& key) {
    const auto* where = line_.find(key);
    if (where != nullptr) told_anew.push_back(where->job());
  };
  for (const auto& grants = plan().grants(); told_grants_ < grants.size(); ++told_grants_) {
    if (called_.insert(grants[told_grants_]).second) tell(grants[told_grants_]);
  }
  for (const auto& [demand, refusal] : plan().refused()) {
    const auto before = told_.find(demand);
    if (before == told_.end() || before->second.to_others != refusal.to_others) {
      const auto group = line_.groups().find(demand);
      if (group == line_.groups().end()) continue;
      for (const auto& [place, job] : group->second) told_anew.push_back(job);
    } else if (before->second.first != refusal.first || before->second.to_first != refusal.to_first) {
      tell(refusal.first);
      if (!plan().granted().contains(before->second.first)) tell(before->second.first);
    }
  }
  told_ = plan().refused();
  return told_anew;
}

}  // namespace gpupool::controllers
