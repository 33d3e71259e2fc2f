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

std::string why(YieldRule rule, const std::string& tenant) {
  if (rule == YieldRule::kPriority) return "its priority is higher";
  return "tenant " + tenant +
         (rule == YieldRule::kGuarantee ? " is within its guarantee" : " has had less than its share");
}

// "2 jobs make room for it: ns/a, ns/b"
std::string who_yields(const std::vector<HoldingNow>& holders, const std::vector<std::size_t>& victims) {
  constexpr std::size_t kMostNames = 5;
  const auto count = victims.size();
  auto text = count == 1 ? std::string("1 job makes room for it: ")
                         : std::to_string(count) + " jobs make room for it: ";
  for (std::size_t i = 0; i < std::min(count, kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + holders[victims[i]].holding->job.to_string();
  if (count > kMostNames) text += ", and " + std::to_string(count - kMostNames) + " more";
  return text;
}

}  // namespace

bool ClaimPass::allows(YieldRule rule) const {
  if (rule == YieldRule::kGuarantee) return spec_.to_guarantee;
  return rule == YieldRule::kPriority ? spec_.to_priority : spec_.to_share;
}

void ClaimPass::look_again_at(base::WallTime moment) {
  if (moment > now_) look_again_ = std::min(look_again_.value_or(moment), moment);
}

const YieldChoice& ClaimPass::yields() {
  if (yields_) return *yields_;
  yields_.emplace(spec_, holders_(), shares_, now_);
  auto longest = seconds(0);
  for (const auto& holder : yields_->holders()) {
    if (holder.may_yield) longest = std::max(longest, seconds(holder.holding->ending_seconds));
  }
  all_ended_ = now_ + longest + kLate;
  return *yields_;
}

bool ClaimPass::within_rule(YieldRule rule, MilliGpus least, const TenantBook::Share& own) const {
  if (!allows(rule)) return false;
  return rule != YieldRule::kGuarantee || own.held + least <= own.tenant.guaranteed;
}

const YieldChoice::Outlook& ClaimPass::outlook(YieldRule rule, const Turn& turn, MilliGpus least) {
  const bool by_share = rule == YieldRule::kShare;
  if (!by_share) least = 0;
  auto*& last = last_[static_cast<std::size_t>(rule)];
  if (last != nullptr && last->first == std::tie(turn.tenant, rule, turn.priority, least))
    return last->second;
  const auto [known, is_new] = outlooks_.try_emplace({turn.tenant, rule, turn.priority, least});
  if (is_new) known->second = yields().outlook({turn.tenant, turn.priority, 0, least}, rule);
  if (by_share && yields().any_uncovered()) look_again_at(now_ + kSharesChange);
  last = &*known;
  return known->second;
}

// What a tenant holds only grows in a pass, and outlooks do not change.
bool ClaimPass::can_ever_claim(const Turn& turn, MilliGpus least, const TenantBook::Share& own) {
  return open() && std::ranges::any_of(kRules, [&](YieldRule rule) {
           if (!within_rule(rule, least, own)) return false;
           const auto& found = outlook(rule, turn, least);
           return found.now || found.next;
         });
}

bool ClaimPass::may_claim(YieldRule rule, const Turn& turn, const api::GpuJob& job, MilliGpus least,
                          const TenantBook::Share& own) {
  if (!open() || !within_rule(rule, least, own)) return false;
  const auto& found = outlook(rule, turn, least);
  if (!found.now && !found.next) return false;
  const auto patience = rule == YieldRule::kShare ? seconds(spec_.patience_seconds) : kPatience;
  const auto since = job.metadata.creation_timestamp.value_or(now_);
  if (now_ - since < patience) {
    look_again_at(since + patience);
    return false;
  }
  if (found.next) look_again_at(*found.next);
  return found.now;
}

Verdict ClaimPass::take(YieldRule rule, const std::string& tenant, const ClaimChoice& choice) {
  const auto& holders = yields_->holders();
  YieldClaim claim;
  claim.awaits.reserve(choice.victims.size());
  auto longest = seconds(0);
  for (const auto each : choice.victims) {
    claim.awaits.push_back(holders[each].holding->uid);
    longest = std::max(longest, seconds(holders[each].holding->ending_seconds));
  }
  claim.until = now_ + longest + kLate;
  Verdict verdict{
      {}, api::reason::kWaitingForYield, who_yields(holders, choice.victims) + "; " + why(rule, tenant)};
  verdict.claim = std::move(claim);
  look_again_at(now_ + kNextClaim);
  claimed_ = true;
  return verdict;
}

void ClaimPass::end() {
  yields_.reset();
  last_ = {};
  outlooks_.clear();
}

}  // namespace gpupool::planning
