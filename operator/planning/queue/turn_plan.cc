// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/turn_plan.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "base/rfc3339.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
using std::chrono::seconds;

// A backfilled job must have given its nodes back this long before the first in line needs them.
constexpr auto kMargin = seconds(30);

// Each change of what a job is told is a write. So a better time is told only if it is better by a fifth. A
// bound that comes later by less than the margin stays: a job counts its deadline from when it has taken its
// nodes, a little after it got them, and who is backfilled ends before the bound by the margin.
std::optional<base::WallTime> shown(const std::optional<base::WallTime>& told,
                                    const std::optional<base::WallTime>& at, base::WallTime now) {
  constexpr int kPart = 5;
  if (!told || !at) return at;
  if (*told < *at) return *at - *told <= kMargin ? told : at;
  return (*told - *at) * kPart > *told - now ? at : told;
}

}  // namespace

// One pass over the queue. For each job whose turn it is (TurnOrder):
//
//   1. Limit    refuse jobs of a tenant that would hold more than its limit
//   2. Grant    give the job nodes that are free and not kept
//   3. First    if there are too few, and no job is first in line: this one is, and nodes are kept for it
//   4. Backfill else give it kept nodes, if it ends before the first in line can start
//   5. Claim    else give it nodes of jobs that have to yield to it
//   6. Refuse   else it waits, and with it all jobs with the same demand
//
// The job that was first in line in the last pass comes before all but jobs within a guarantee, so that it
// does not lose its place.
TurnPlan::TurnPlan(const TurnInput& input, const WaitingLine& line)
    : pool_(input.pool),
      free_at_(input.free_at),
      now_(input.now),
      nodes_(input.pool, input.nodes),
      order_(*input.pool->spec.queue, line, input.shares, input.now),
      claims_(
          *input.pool, input.holders,
          [this](const std::string& tenant) { return order_.share_of_any(tenant); }, input.now) {
  refused_.resize(line.group_ids(), Cause::kNone);
  shapes_.resize(line.shapes());
  told_ = input.first ? line.find(*input.first) : nullptr;
  if (told_ == nullptr) told_ = first_told(line);
  while (const auto candidate = order_.next()) {
    if (!candidate->within_guarantee) place_first();
    decide(*candidate);
  }
  place_first();
  claim_later_ones();
  claims_.end();
  holder_.clear();
}

// Decides about the job that is first in line already. The current candidate of order_ stays.
void TurnPlan::place_first() {
  const auto* entry = std::exchange(told_, nullptr);
  if (entry == nullptr || granted_.contains(entry->position().key)) return;
  const auto& demand = entry->demand();
  const auto share = order_.share(demand.turn.tenant);
  const auto& limit = share.tenant.limit;
  if (share.tenant.refused || (limit && share.held + least_amount(demand) > *limit)) return;
  auto& shape = shapes_[entry->group().shape];
  const auto taken = take(demand, *entry->job(), false, false);
  if (taken == Taken::kYes) return order_.add_held(demand.turn.tenant, last_amount_);
  if (taken == Taken::kTooMuch) return;
  shape.none_free = true;
  if (claim(demand, *entry->job(), shape)) return order_.add_held(demand.turn.tenant, last_amount_);
  wait(demand, *entry->job(), shape);
}

void TurnPlan::decide(const TurnOrder::Candidate& candidate) {
  const auto& demand = *candidate.demand;
  const auto& job = **candidate.job;
  if (granted_.contains(candidate.position->key)) return order_.skip();
  const auto& share = *candidate.share;
  auto& shape = shapes_[candidate.group->shape];
  const bool may_pass = !first_ || pool_->spec.queue->backfill;
  if (const auto why = barred(demand, share); why != Cause::kNone) {
    if (why == Cause::kLimit && may_pass && claim(demand, job, shape, ClaimOf::kItsOwn))
      return order_.grant(last_amount_);
    return refuse(candidate, why);
  }
  for (const bool reserved : {false, true}) {
    auto& none = reserved ? shape.none_reserved : shape.none_free;
    if (none || !may_pass || (reserved && !(first_ && ends_in_time(demand, now_)))) continue;
    switch (take(demand, job, candidate.within_guarantee, reserved)) {
      case Taken::kYes:
        return order_.grant(last_amount_);
      case Taken::kTooMuch:
        if (candidate.within_guarantee) return order_.refuse_guarantee();
        return refuse(candidate, Cause::kLimit);
      case Taken::kNone:
        none = true;
    }
  }
  if (may_pass && claim(demand, job, shape)) return order_.grant(last_amount_);
  wait(demand, job, shape);
  refuse(candidate, shape.never ? Cause::kNever : Cause::kTurn);
}

// Tries to give the job nodes. reserved: also those that are kept for the first in line.
TurnPlan::Taken TurnPlan::take(const Demand& demand, const api::GpuJob& job, bool within_guarantee,
                               bool reserved) {
  bool too_much = false;
  const auto& share = order_.share(demand.turn.tenant);
  const auto& most = within_guarantee ? std::optional(share.tenant.guaranteed) : share.tenant.limit;
  const auto accept = [&](const NodeChoice::Nodes& nodes) {
    last_amount_ = amount(nodes);
    too_much = (most && share.held + last_amount_ > *most) || !leaves_limit(demand, last_amount_);
    return !too_much;
  };
  const auto nodes = nodes_.take(demand, reserved ? NodePicker::Of::kKept : NodePicker::Of::kFree, accept);
  if (!nodes) return too_much ? Taken::kTooMuch : Taken::kNone;
  grant(demand, job, {references(*nodes), "", ""}, now_);
  return Taken::kYes;
}

// from: when the job has its nodes.
void TurnPlan::grant(const Demand& demand, const api::GpuJob& job, Verdict verdict, base::WallTime from) {
  const auto& turn = demand.turn;
  for (const auto& node : verdict.nodes) {
    if (turn.bound_seconds > 0)
      given_until_.emplace(node.name, from + seconds(turn.bound_seconds + turn.ending_seconds));
  }
  verdict.turn = api::JobQueueStatus{turn.tenant, {}, {}};
  granted_[job.metadata.key()] = std::move(verdict);
  grants_.push_back(job.metadata.key());
}

// Whether the first in line can still start within the limit of its tenant when a job with this amount has
// started.
bool TurnPlan::leaves_limit(const Demand& demand, MilliGpus amount) const {
  if (!first_ || demand.turn.tenant != first_tenant_) return true;
  const auto& share = order_.share(first_tenant_);
  return !share.tenant.limit || share.held + amount + first_amount_ <= *share.tenant.limit;
}

bool TurnPlan::ends_in_time(const Demand& demand, base::WallTime from) const {
  const auto& turn = demand.turn;
  if (turn.bound_seconds == 0 || !first_->at) return false;
  return from + seconds(turn.bound_seconds + turn.ending_seconds) + kMargin <= *first_->at;
}

MilliGpus TurnPlan::amount(const NodeChoice::Nodes& nodes) const {
  MilliGpus sum = 0;
  for (const auto* node : nodes) sum += gpu_amount(*pool_->spec.queue, node->model, node->gpus);
  return sum;
}

void TurnPlan::wait(const Demand& demand, const api::GpuJob& job, Shape& shape) {
  if (shape.never || (first_ && shape.possible)) return;
  const auto wanted = nodes_.possible(demand);
  if (!wanted) {
    shape.never = wanted.error();
    return;
  }
  shape.possible = true;
  // Who is within a guarantee may pass the first in line, and does not take its place.
  const bool other_comes = told_ != nullptr && told_->position().key != job.metadata.key();
  if (!first_ && !other_comes) reserve(demand, job, *wanted);
}

void TurnPlan::reserve(const Demand& demand, const api::GpuJob& job, const NodeChoice::Candidates& wanted) {
  const auto free_at = [&](const Candidate& each) -> std::optional<base::WallTime> {
    if (each.given) {
      const auto until = given_until_.find(each.node->name);
      return until == given_until_.end() ? std::nullopt : std::optional(until->second);
    }
    if (!each.node->leased) return now_;
    const auto until = free_at_(each.node->name);
    return until ? std::optional(std::max(*until, now_)) : std::nullopt;
  };
  auto earliest = nodes_.earliest(demand, wanted, free_at);
  first_ = First{job.metadata.key(), demand.workers, earliest.at, earliest.at, std::nullopt};
  if (job.status.progress && job.status.progress->queue) {
    first_->since = job.status.progress->queue->reserved_since;
    first_->shown = shown(job.status.progress->queue->latest_start, earliest.at, now_);
  }
  first_tenant_ = demand.turn.tenant;
  first_amount_ = least_amount(demand);
  if (earliest.at) {
    first_amount_ = 0;
    for (const auto* node : earliest.nodes)
      first_amount_ += gpu_amount(*pool_->spec.queue, node->node->model, node->node->gpus);
  }
  nodes_.keep(demand, earliest.nodes);
}

void TurnPlan::refuse(const TurnOrder::Candidate& candidate, Cause cause) {
  note_refusal(*candidate.group, cause);
  order_.refuse_with(
      [&](const Demand& demand, const WaitingLine::Group& group, const TenantBook::Share& share) {
        const auto why = foregone(demand, share, shapes_[group.shape]);
        if (why != Cause::kNone) note_refusal(group, why);
        return why != Cause::kNone;
      });
}

void TurnPlan::note_refusal(const WaitingLine::Group& group, Cause cause) {
  auto& refused = refused_[group.id];
  if (refused == Cause::kNone) ++refusals_;
  refused = cause;
}

TurnPlan::Cause TurnPlan::barred(const Demand& demand, const TenantBook::Share& share) const {
  const auto least = least_amount(demand);
  if (share.tenant.refused) return Cause::kRefused;
  if (!leaves_limit(demand, least)) return Cause::kTurn;
  return share.tenant.limit && share.held + least > *share.tenant.limit ? Cause::kLimit : Cause::kNone;
}

// As decide(): what a tenant holds only grows in a pass, and nodes only become fewer.
TurnPlan::Cause TurnPlan::foregone(const Demand& demand, const TenantBook::Share& share, const Shape& shape) {
  const bool may_pass = !first_ || pool_->spec.queue->backfill;
  const auto can_claim = [&] {
    return may_pass && claims_.can_ever_claim(demand.turn, least_amount(demand), share);
  };
  if (const auto why = barred(demand, share); why != Cause::kNone)
    return why == Cause::kLimit && can_claim() ? Cause::kNone : why;
  if (shape.never) return Cause::kNever;
  if (!first_ || !shape.possible) return Cause::kNone;
  const bool some_left = !shape.none_free || (!shape.none_reserved && ends_in_time(demand, now_));
  return may_pass && (some_left || can_claim()) ? Cause::kNone : Cause::kTurn;
}

std::optional<Verdict> TurnPlan::verdict(const WaitingLine::Entry& entry) const {
  const auto& key = entry.position().key;
  if (const auto got = granted_.find(key); got != granted_.end()) return got->second;
  const auto& demand = entry.demand();
  const auto cause = refusal(entry.group());
  const auto& pool = pool_->metadata.name;
  if (cause == Cause::kNone) return std::nullopt;
  const auto& tenant = order_.share(demand.turn.tenant).tenant;
  Verdict verdict;
  switch (cause) {
    case Cause::kNone:  // answered above
    case Cause::kNever:
      verdict = *shapes_[entry.group().shape].never;
      break;
    case Cause::kLimit:
      verdict = over_limit(pool, tenant, least_amount(demand), demand.text());
      break;
    case Cause::kRefused:
      verdict = refused_tenant(pool, key.ns);
      break;
    case Cause::kTurn:
      verdict = {{},
                 reason::kWaitingForTurn,
                 "waiting in pool " + pool + " for nodes for " + demand.text() +
                     "; other jobs come first by the shares of their tenants"};
  }
  verdict.turn = api::JobQueueStatus{tenant.name, {}, {}};
  if (!first_ || first_->job != key) return verdict;
  verdict.reason = reason::kFirstInLine;
  verdict.message = "first in line in pool " + pool + ": nodes are kept for " + demand.text();
  if (first_->shown) verdict.message += "; starts by " + base::to_rfc3339(*first_->shown) + " at the latest";
  verdict.turn->reserved_since = first_->since.value_or(now_);
  verdict.turn->latest_start = first_->shown;
  return verdict;
}

}  // namespace gpupool::planning
