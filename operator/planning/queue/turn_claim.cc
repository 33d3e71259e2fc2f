// SPDX-License-Identifier: Apache-2.0
// Claims: jobs that get nodes which others hold, and who yields to them.
#include <algorithm>
#include <utility>

#include "planning/queue/turn_plan.h"

namespace gpupool::planning {

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

// By node.
const std::unordered_map<std::string_view, std::size_t>& TurnPlan::holders() {
  const auto& holders = claims_.yields().holders();
  if (!holder_.empty()) return holder_;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (!holders[i].may_yield) continue;
    for (const auto& node : holders[i].holding->nodes) holder_[node] = i;
  }
  return holder_;
}

bool TurnPlan::claim(const Demand& demand, const api::GpuJob& job, Shape& shape, ClaimOf of) {
  if (!claims_.open()) return false;
  for (const auto rule : ClaimPass::kRules) {
    if (of == ClaimOf::kItsOwn && rule != YieldRule::kPriority) continue;
    if (!shape.never && may_claim(demand, job, shape, rule, of) && claim_by(rule, demand, job, shape, of))
      return true;
  }
  return false;
}

// Only a guarantee comes before the job that is first in line: others may not take what it was promised. So
// they try again when its nodes are kept.
bool TurnPlan::may_claim(const Demand& demand, const api::GpuJob& job, Shape& shape, YieldRule rule,
                         ClaimOf of) {
  if (!claims_.allows(rule)) return false;
  if (rule != YieldRule::kGuarantee && told_ != nullptr && told_->position().key != job.metadata.key()) {
    if (later_.empty() || later_.back().job != &job) later_.push_back({&demand, &job, &shape, of});
    return false;
  }
  return claims_.may_claim(rule, demand.turn, job, least_amount(demand), order_.share(demand.turn.tenant));
}

void TurnPlan::claim_later_ones() {
  for (const auto& [demand, job, shape, of] : later_) {
    const bool may_pass = !first_ || pool_->spec.queue->backfill;
    if (!may_pass || granted_.contains(job->metadata.key())) continue;
    if (claim(*demand, *job, *shape, of)) return order_.add_held(demand->turn.tenant, last_amount_);
  }
}

// Whether a job that has its nodes when all that may yield have ended is gone before the first in line
// starts.
bool TurnPlan::ends_in_time_after_claim(const Demand& demand) const {
  return first_ && ends_in_time(demand, claims_.all_ended());
}

TurnPlan::Claimable TurnPlan::claimable(const Demand& demand, const NodeChoice::Candidates& wanted,
                                        ClaimOf of) {
  const bool kept_too = ends_in_time_after_claim(demand);
  Claimable found;
  const auto& holder_of = holders();
  found.worth.resize(claims_.yields().holders().size());
  found.missing = demand.nodes.empty() ? demand.workers : static_cast<std::int64_t>(demand.nodes.size());
  for (const auto* each : wanted) {
    if (each->given || (each->kept && !kept_too)) continue;
    const auto& node = *each->node;
    const auto slots = demand.nodes.empty() ? worker_slots(node, demand.gpus_per_worker, demand.needs) : 1;
    auto holder = Claimable::kNobody;
    if (node.leased) {
      const auto known = holder_of.find(node.name);
      if (known == holder_of.end()) continue;
      holder = known->second;
      found.worth[holder] += slots;
    } else if (each->spare || of == ClaimOf::kItsOwn) {  // its tenant may not have more
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

bool TurnPlan::claim_by(YieldRule rule, const Demand& demand, const api::GpuJob& job, Shape& shape,
                        ClaimOf of) {
  const auto& turn = demand.turn;
  const std::tuple question(&std::as_const(shape), turn.tenant, rule, turn.priority,
                            ends_in_time_after_claim(demand), of);
  if (cannot_.contains(question) || !nodes_.has_its_spares()) return false;
  const auto wanted = nodes_.possible(demand);
  if (!wanted) {
    shape.never = wanted.error();
    return false;
  }
  const auto nodes = claimable(demand, *wanted, of);
  const auto room_of = [&](const YieldChoice::Freed& freed) -> std::optional<ClaimRoom> {
    auto chosen = nodes_.choose_among(demand, nodes.with(freed));
    if (!chosen) return std::nullopt;
    auto holders = nodes.holders_among(*chosen);
    const auto sum = amount(*chosen);
    return ClaimRoom{*std::move(chosen), std::move(holders), sum};
  };
  const Claimant claimant{turn.tenant, turn.priority, nodes.missing, least_amount(demand)};
  const auto choice = claims_.yields().choose(claimant, rule, nodes.worth, room_of);
  MilliGpus freed = 0;
  if (choice && rule == YieldRule::kPriority) {
    for (const auto each : choice->victims) freed += claims_.yields().holders()[each].holding->amount;
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
  auto verdict = claims_.take(rule, demand.turn.tenant, choice);
  verdict.nodes = references(choice.room.nodes);
  const auto until = verdict.claim->until;
  nodes_.give(choice.room.nodes);
  last_amount_ = choice.room.amount;
  grant(demand, job, std::move(verdict), until);
}

}  // namespace gpupool::planning
