// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "planning/queue/claim_choice.h"
#include "planning/queue/claim_pass.h"
#include "planning/queue/node_choice.h"
#include "planning/queue/turn_order.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"

namespace gpupool::planning {

// What a TurnPlan is made from.
struct TurnInput {
  std::shared_ptr<const api::GpuPool> pool;
  std::vector<const PoolNode*> nodes;  // as QueuePlan
  TurnOrder::Shares shares;
  // When the job that holds this node has given it back at the latest; nothing: not known.
  std::function<std::optional<base::WallTime>(const std::string& node)> free_at;
  base::WallTime now;
  // Who was first in line in the last plan. Without one, the statuses of the jobs tell it.
  std::optional<api::ObjectKey> first = {};
  // Who holds nodes. Called at most once, and only if a job could claim nodes of others. Empty: nobody can.
  std::function<std::vector<HoldingNow>()> holders = {};
};

// Which waiting jobs of an exclusive pool with spec.queue get which nodes now: the tenants take turns
// (TurnOrder). The first job that has to wait for nodes is first in line: nodes are kept for it alone. It
// stays first in line until it starts or leaves the queue. Jobs behind it start on other nodes, or on kept
// ones if they end before it can start (backfill). At most one job claims nodes of others (YieldChoice).
// Owned by PoolState; pure; not thread-safe.
class TurnPlan {
 public:
  TurnPlan(const TurnInput& input, const WaitingLine& line);
  TurnPlan(const TurnPlan&) = delete;
  TurnPlan& operator=(const TurnPlan&) = delete;

  // Returns the answer to a job in the line; nothing if the plan does not contain the job.
  std::optional<Verdict> verdict(const WaitingLine::Entry& entry) const;
  bool gave(const PoolNode& node) const { return nodes_.gave(node); }
  const std::map<api::ObjectKey, Verdict>& granted() const { return granted_; }
  const std::vector<api::ObjectKey>& grants() const { return grants_; }

  // The job that is first in line, and when it starts at the latest.
  struct First {
    api::ObjectKey job;
    std::int64_t workers = 0;
    std::optional<base::WallTime> at;     // nothing: not known
    std::optional<base::WallTime> shown;  // what people are told: changes rarely, and is not before `at`
    std::optional<base::WallTime> since;  // when it was told so; nothing: not yet
    // As people see it.
    friend bool operator==(const First& a, const First& b) { return a.job == b.job && a.shown == b.shown; }
  };
  const std::optional<First>& first() const { return first_; }

  // When time alone lets a job claim nodes of others that cannot now; nothing: time alone changes nothing.
  std::optional<base::WallTime> look_again() const { return claims_.look_again(); }

  // Why jobs get nothing; jobs of one demand get the same answer.
  enum class Cause : std::uint8_t { kNone, kNever, kTurn, kLimit, kRefused };
  // Of a group of the line: also what a job gets that has just entered it. kNone: no job of it was refused.
  Cause refusal(const WaitingLine::Group& group) const {
    return group.id < refused_.size() ? refused_[group.id] : Cause::kNone;
  }
  std::size_t refusals() const { return refusals_; }  // groups

 private:
  // What is known of demands that differ in their turn alone.
  struct Shape {
    bool none_free = false;      // no nodes are left for such a job
    bool none_reserved = false;  // nor among those that are kept for the first in line
    bool possible = false;       // on an empty pool
    std::optional<Verdict> never;
  };
  void place_first();
  void decide(const TurnOrder::Candidate& candidate);
  // Finds out whether the job could ever run. If so and nobody is first in line, it is now.
  void wait(const Demand& demand, const api::GpuJob& job, Shape& shape);
  void reserve(const Demand& demand, const api::GpuJob& job, const NodeChoice::Candidates& wanted);
  enum class Taken { kYes, kNone, kTooMuch };
  Taken take(const Demand& demand, const api::GpuJob& job, bool within_guarantee, bool reserved);
  void grant(const Demand& demand, const api::GpuJob& job, Verdict verdict, base::WallTime from);
  bool ends_in_time(const Demand& demand, base::WallTime from) const;
  bool leaves_limit(const Demand& demand, MilliGpus amount) const;
  MilliGpus amount(const NodeChoice::Nodes& nodes) const;
  void refuse(const TurnOrder::Candidate& candidate, Cause cause);
  void note_refusal(const WaitingLine::Group& group, Cause cause);
  // Why such a job gets no nodes of the pool, however many are free; kNone: it may get some.
  Cause barred(const Demand& demand, const TenantBook::Share& share) const;
  // Why such a job gets nothing whatever happens before its turn; kNone: it may get something.
  Cause foregone(const Demand& demand, const TenantBook::Share& share, const Shape& shape);

  // Claims (turn_claim.cc).
  struct Claimable;
  // Tries to give the job nodes that others hold.
  bool claim(const Demand& demand, const api::GpuJob& job, Shape& shape, ClaimOf of = ClaimOf::kAll);
  void claim_later_ones();
  bool may_claim(const Demand& demand, const api::GpuJob& job, Shape& shape, YieldRule rule, ClaimOf of);
  bool claim_by(YieldRule rule, const Demand& demand, const api::GpuJob& job, Shape& shape, ClaimOf of);
  Claimable claimable(const Demand& demand, const NodeChoice::Candidates& wanted, ClaimOf of);
  bool ends_in_time_after_claim(const Demand& demand) const;
  void take_claim(YieldRule rule, const Demand& demand, const api::GpuJob& job, const ClaimChoice& choice);
  const std::unordered_map<std::string_view, std::size_t>& holders();

  std::shared_ptr<const api::GpuPool> pool_;
  std::function<std::optional<base::WallTime>(const std::string& node)> free_at_;
  base::WallTime now_;
  NodeChoice nodes_;
  TurnOrder order_;
  std::vector<Shape> shapes_;  // WaitingLine::Group::shape
  std::map<api::ObjectKey, Verdict> granted_;
  std::vector<api::ObjectKey> grants_;
  std::map<std::string, base::WallTime> given_until_;  // by node, of jobs with a bound
  MilliGpus last_amount_ = 0;
  std::vector<Cause> refused_;  // by group
  std::size_t refusals_ = 0;
  std::optional<First> first_;
  std::string first_tenant_;
  MilliGpus first_amount_ = 0;
  const WaitingLine::Entry* told_ = nullptr;  // was first in line in the last pass, and has no answer yet

  ClaimPass claims_;
  std::unordered_map<std::string_view, std::size_t> holder_;  // by node: who may yield
  struct Later {
    const Demand* demand;
    const api::GpuJob* job;
    Shape* shape;
    ClaimOf of;
  };
  std::vector<Later> later_;  // may claim when the first has an answer
  std::set<std::tuple<const Shape*, std::string, YieldRule, std::int64_t, bool, ClaimOf>> cannot_;  // claim
};

}  // namespace gpupool::planning
