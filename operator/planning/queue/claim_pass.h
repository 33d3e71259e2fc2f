// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "planning/queue/claim_choice.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"

namespace gpupool::planning {

// Of whom a job may get what they hold. kItsOwn: its tenant has reached its limit, so that only what jobs of
// the tenant with a lower priority give back is left for it.
enum class ClaimOf : std::uint8_t { kAll, kItsOwn };

// The claims of one pass over the queue of a pool with spec.queue: which jobs may claim now what others hold,
// and what a claim says. At most one is made in a pass. Pure; not thread-safe.
class ClaimPass {
 public:
  // holders: who holds nodes; called at most once, and only if a job could claim.
  // Empty: nobody can. shares: with what jobs got in this pass.
  ClaimPass(const api::GpuPool& pool, std::function<std::vector<HoldingNow>()> holders,
            YieldChoice::Shares shares, base::WallTime now)
      : spec_(pool.spec.queue->yield ? *pool.spec.queue->yield : api::QueueYield()),
        holders_(std::move(holders)),
        shares_(std::move(shares)),
        now_(now) {}

  static constexpr YieldRule kRules[] = {YieldRule::kGuarantee, YieldRule::kPriority, YieldRule::kShare};

  bool open() const { return !claimed_ && holders_; }
  bool allows(YieldRule rule) const;  // the pool does
  // Whether such a job may claim by any rule, now or when it has waited long enough. If not, it stays so in
  // this pass. least: what it takes at least. own: of its tenant.
  bool can_ever_claim(const Turn& turn, MilliGpus least, const TenantBook::Share& own);
  // Whether the job may claim by the rule now: it has waited long enough, and there are jobs that may yield
  // to it. least: what it takes at least. own: of its tenant.
  bool may_claim(YieldRule rule, const Turn& turn, const api::GpuJob& job, MilliGpus least,
                 const TenantBook::Share& own);
  const YieldChoice& yields();
  // When all jobs that may yield could have given back what they hold. REQUIRES: yields() was called.
  base::WallTime all_ended() const { return all_ended_; }
  // Makes the claim. The verdict has no nodes yet.
  Verdict take(YieldRule rule, const std::string& tenant, const ClaimChoice& choice);
  // When time alone lets a job claim that cannot now; nothing: time alone changes nothing.
  std::optional<base::WallTime> look_again() const { return look_again_; }
  // What is no longer needed when the pass has ended.
  void end();

 private:
  using Question = std::tuple<std::string, YieldRule, std::int64_t, MilliGpus>;
  using Outlooks = std::map<Question, YieldChoice::Outlook>;
  void look_again_at(base::WallTime moment);
  bool within_rule(YieldRule rule, MilliGpus least, const TenantBook::Share& own) const;
  const YieldChoice::Outlook& outlook(YieldRule rule, const Turn& turn, MilliGpus least);

  api::QueueYield spec_;
  std::function<std::vector<HoldingNow>()> holders_;
  YieldChoice::Shares shares_;
  base::WallTime now_;
  std::optional<YieldChoice> yields_;
  base::WallTime all_ended_;
  bool claimed_ = false;
  std::optional<base::WallTime> look_again_;
  Outlooks outlooks_;
  std::array<const Outlooks::value_type*, std::size(kRules)> last_{};  // by rule: what was asked last
};

}  // namespace gpupool::planning
