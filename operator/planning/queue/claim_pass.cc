// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/claim_pass.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/v1alpha1/reasons.h"

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

bool ClaimPass::allows(YieldRule rule) const {
  const auto spec = rules(pool_);
  if (rule == YieldRule::kGuarantee) return spec.to_guarantee;
  return rule == YieldRule::kPriority ? spec.to_priority : spec.to_share;
}

void ClaimPass::look_again_at(base::WallTime moment) {
  if (moment > now_) look_again_ = std::min(look_again_.value_or(moment), moment);
}

const YieldChoice& ClaimPass::yields() {
  if (yields_) return *yields_;
  yields_.emplace(rules(pool_), holdings_(), shares_, now_);
  auto longest = seconds(0);
  for (const auto& holding : yields_->holdings()) {
    if (holding.may_yield) longest = std::max(longest, seconds(holding.ending_seconds));
  }
  all_ended_ = now_ + longest + kLate;
  return *yields_;
}

bool ClaimPass::may_claim(YieldRule rule, const Turn& turn, const api::GpuJob& job, MilliGpus least,
                          const TenantBook::Share& own) {
  if (!open() || !allows(rule)) return false;
  if (rule == YieldRule::kGuarantee && own.held + least > own.tenant.guaranteed) return false;
  const bool by_share = rule == YieldRule::kShare;
  const auto [known, is_new] =
      outlooks_.try_emplace({turn.tenant, rule, turn.priority, by_share ? least : MilliGpus{0}});
  auto& outlook = known->second;
  if (is_new) outlook = yields().outlook({turn.tenant, turn.priority, 0, least}, rule);
  if (by_share && yields().any_uncovered()) look_again_at(now_ + kSharesChange);
  if (!outlook.now && !outlook.next) return false;
  const auto patience = by_share ? seconds(rules(pool_).patience_seconds) : kPatience;
  const auto since = job.metadata.creation_timestamp.value_or(now_);
  if (now_ - since < patience) {
    look_again_at(since + patience);
    return false;
  }
  if (outlook.next) look_again_at(*outlook.next);
  return outlook.now;
}

Verdict ClaimPass::take(YieldRule rule, const std::string& tenant, const ClaimChoice& choice) {
  const auto& holdings = yields_->holdings();
  YieldClaim claim;
  claim.awaits.reserve(choice.victims.size());
  auto longest = seconds(0);
  for (const auto each : choice.victims) {
    claim.awaits.push_back(holdings[each].uid);
    longest = std::max(longest, seconds(holdings[each].ending_seconds));
  }
  claim.until = now_ + longest + kLate;
  Verdict verdict{
      {}, api::reason::kWaitingForYield, who_yields(holdings, choice.victims) + "; " + why(rule, tenant)};
  verdict.claim = std::move(claim);
  look_again_at(now_ + kNextClaim);
  claimed_ = true;
  return verdict;
}

void ClaimPass::end() {
  yields_.reset();
  outlooks_.clear();
}

}  // namespace gpupool::planning
