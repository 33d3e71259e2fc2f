// SPDX-License-Identifier: Apache-2.0
// Claims: jobs that get nodes which others hold, and who yields to them.
#include <algorithm>
#include <chrono>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/queue/turn_plan.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;

// So long a job waits before others yield to it.
constexpr auto kPatience = seconds(10);
// Jobs that yield may take so much longer than they should.
constexpr auto kLate = seconds(60);
// What tenants have used changes with time: so often it is compared again.
constexpr auto kSharesChange = seconds(300);
// One claim is made in a pass, and the next one when the jobs that yield to the first are known to do so.
constexpr auto kNextClaim = seconds(1);

api::QueueYield rules(const api::GpuPool& pool) {
  const auto& yield = pool.spec.queue->yield;
  return yield ? *yield : api::QueueYield();
}

bool allows(const api::QueueYield& spec, YieldRule rule) {
  if (rule == YieldRule::kGuarantee) return spec.to_guarantee;
  return rule == YieldRule::kPriority ? spec.to_priority : spec.to_share;
}

std::string why(YieldRule rule, const std::string& tenant) {
  if (rule == YieldRule::kPriority) return "its priority is higher";
  return "tenant " + tenant +
         (rule == YieldRule::kGuarantee ? " is within its guarantee" : " has had less than its share");
}

// "2 jobs make room for it: ns/a, ns/b"
std::string who_yields(const std::vector<Holding>& holdings, const std::vector<std::size_t>& victims) {
  constexpr std::size_t kMostNames = 5;
  const auto count = victims.size();
  auto text = count == 1 ? std::string("1 job makes room for it: ")
                         : std::to_string(count) + " jobs make room for it: ";
  for (std::size_t i = 0; i < std::min(count, kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + holdings[victims[i]].job.to_string();
  if (count > kMostNames) text += ", and " + std::to_string(count - kMostNames) + " more";
  return text;
}

}  // namespace

// The nodes that a claimant may use.
struct TurnPlan::Claimable {
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  NodeChoice::Candidates nodes;      // in order of name
  std::vector<std::size_t> holders;  // of each
  std::vector<std::int64_t> worth;   // by holding, of YieldChoice::choose()
  std::int64_t missing = 0;          // Claimant::missing
  std::unordered_map<const PoolNode*, std::size_t> holder_of;

  NodeChoice::Candidates with(const YieldChoice::Freed& freed) const {
    NodeChoice::Candidates all;
    all.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (holders[i] == kNobody || freed[holders[i]]) all.push_back(nodes[i]);
    }
    return all;
  }
  std::vector<std::size_t> holders_among(const NodeChoice::Nodes& chosen) const {
    std::vector<std::size_t> found;
    for (const auto* node : chosen) {
      const auto holder = holder_of.at(node);
      if (holder != kNobody) found.push_back(holder);
    }
    std::ranges::sort(found);
    const auto twice = std::ranges::unique(found);
    found.erase(twice.begin(), twice.end());
    return found;
  }
};

const YieldChoice& TurnPlan::yields() {
  if (yields_) return *yields_;
  yields_.emplace(
      rules(*pool_), holdings_(), [this](const std::string& tenant) { return share(tenant); }, now_);
  auto longest = seconds(0);
  const auto& holdings = yields_->holdings();
  for (std::size_t i = 0; i < holdings.size(); ++i) {
    if (!holdings[i].may_yield) continue;
    longest = std::max(longest, seconds(holdings[i].ending_seconds));
    for (const auto& node : holdings[i].nodes) holder_[node] = i;
  }
  all_ended_ = now_ + longest + kLate;
  return *yields_;
}

// With what jobs got in this pass.
TenantBook::Share TurnPlan::share(const std::string& tenant) const {
  return order_.knows(tenant) ? order_.share(tenant) : shares_(tenant);
}

void TurnPlan::look_again_at(base::WallTime moment) {
  if (moment > now_) look_again_ = std::min(look_again_.value_or(moment), moment);
}

bool TurnPlan::claim(const Demand& demand, const api::GpuJob& job, Shape& shape) {
  if (claimed_ || !holdings_) return false;
  for (const auto rule : {YieldRule::kGuarantee, YieldRule::kPriority, YieldRule::kShare}) {
    if (!shape.never && may_claim(demand, job, rule) && claim_by(rule, demand, job, shape)) return true;
  }
  return false;
}

// Only a guarantee comes before the job that is first in line: others may not take what it was promised. So
// they try again when its nodes are kept.
bool TurnPlan::may_claim(const Demand& demand, const api::GpuJob& job, YieldRule rule) {
  if (!allows(rules(*pool_), rule)) return false;
  const auto& own = order_.share(demand.turn.tenant);
  if (rule == YieldRule::kGuarantee) {
    if (own.held + least_amount(demand) > own.tenant.guaranteed) return false;
  } else if (told_ != nullptr && told_->position().key != job.metadata.key()) {
    if (later_.empty() || later_.back().second != &job) later_.emplace_back(&demand, &job);
    return false;
  }
  return has_waited(demand, job, rule);
}

void TurnPlan::claim_later_ones() {
  for (const auto& [demand, job] : later_) {
    const bool may_pass = !first_ || pool_->spec.queue->backfill;
    if (!may_pass || granted_.contains(job->metadata.key())) continue;
    if (claim(*demand, *job, shapes_[*demand])) return order_.add_held(demand->turn.tenant, last_amount_);
  }
}

// Whether there are jobs that may yield to it now, and it has waited long enough.
bool TurnPlan::has_waited(const Demand& demand, const api::GpuJob& job, YieldRule rule) {
  const auto& turn = demand.turn;
  const bool by_share = rule == YieldRule::kShare;
  const auto least = least_amount(demand);
  const auto [known, is_new] =
      outlooks_.try_emplace({turn.tenant, rule, turn.priority, by_share ? least : MilliGpus{0}});
  auto& outlook = known->second;
  if (is_new) outlook = yields().outlook({turn.tenant, turn.priority, 0, least}, rule);
  if (by_share && yields().any_uncovered()) look_again_at(now_ + kSharesChange);
  if (!outlook.now && !outlook.next) return false;
  const auto patience = by_share ? seconds(rules(*pool_).patience_seconds) : kPatience;
  const auto since = job.metadata.creation_timestamp.value_or(now_);
  if (now_ - since < patience) {
    look_again_at(since + patience);
    return false;
  }
  if (outlook.next) look_again_at(*outlook.next);
  return outlook.now;
}

// Whether a job that has its nodes when all that may yield have ended is gone before the first in line
// starts.
bool TurnPlan::ends_in_time_after_claim(const Demand& demand) const {
  return first_ && ends_in_time(demand, all_ended_);
}

TurnPlan::Claimable TurnPlan::claimable(const Demand& demand, const NodeChoice::Candidates& wanted) const {
  const bool kept_too = ends_in_time_after_claim(demand);
  Claimable found;
  found.worth.resize(yields_->holdings().size());
  found.missing = demand.nodes.empty() ? demand.workers : static_cast<std::int64_t>(demand.nodes.size());
  for (const auto* each : wanted) {
    if (each->given || (each->kept && !kept_too)) continue;
    const auto& node = *each->node;
    const auto slots = demand.nodes.empty() ? worker_slots(node, demand.gpus_per_worker, demand.needs) : 1;
    auto holder = Claimable::kNobody;
    if (node.leased) {
      const auto known = holder_.find(node.name);
      if (known == holder_.end()) continue;
      holder = known->second;
      found.worth[holder] += slots;
    } else if (each->spare) {
      continue;
    } else {
      found.missing -= slots;
    }
    found.nodes.push_back(each);
    found.holders.push_back(holder);
    found.holder_of.emplace(&node, holder);
  }
  return found;
}

bool TurnPlan::claim_by(YieldRule rule, const Demand& demand, const api::GpuJob& job, Shape& shape) {
  const auto& turn = demand.turn;
  const std::tuple question(&std::as_const(shape), turn.tenant, rule, turn.priority,
                            ends_in_time_after_claim(demand));
  if (cannot_.contains(question) || !nodes_.has_its_spares()) return false;
  const auto wanted = nodes_.possible(demand);
  if (!wanted) {
    shape.never = wanted.error();
    return false;
  }
  const auto nodes = claimable(demand, *wanted);
  const auto room_of = [&](const YieldChoice::Freed& freed) -> std::optional<ClaimRoom> {
    auto chosen = nodes_.choose_among(demand, nodes.with(freed));
    if (!chosen) return std::nullopt;
    auto holders = nodes.holders_among(*chosen);
    const auto sum = amount(*chosen);
    return ClaimRoom{*std::move(chosen), std::move(holders), sum};
  };
  const Claimant claimant{turn.tenant, turn.priority, nodes.missing, least_amount(demand)};
  const auto choice = yields_->choose(claimant, rule, nodes.worth, room_of);
  MilliGpus freed = 0;
  if (choice && rule == YieldRule::kPriority) {
    for (const auto each : choice->victims) freed += yields_->holdings()[each].amount;
  }
  if (!choice || !leaves_limit(demand, choice->room.amount - freed)) {
    cannot_.insert(question);
    return false;
  }
  take_claim(rule, demand, job, *choice);
  return true;
}

void TurnPlan::take_claim(YieldRule rule, const Demand& demand, const api::GpuJob& job,
                          const ClaimChoice& choice) {
  const auto& holdings = yields_->holdings();
  YieldClaim claim;
  claim.awaits.reserve(choice.victims.size());
  auto longest = seconds(0);
  for (const auto each : choice.victims) {
    claim.awaits.push_back(holdings[each].uid);
    longest = std::max(longest, seconds(holdings[each].ending_seconds));
  }
  claim.until = now_ + longest + kLate;
  const auto until = claim.until;
  Verdict verdict{references(choice.room.nodes), api::reason::kWaitingForYield,
                  who_yields(holdings, choice.victims) + "; " + why(rule, demand.turn.tenant)};
  verdict.claim = std::move(claim);
  nodes_.give(choice.room.nodes);
  last_amount_ = choice.room.amount;
  look_again_at(now_ + kNextClaim);
  claimed_ = true;
  grant(demand, job, std::move(verdict), until);
}

}  // namespace gpupool::planning
