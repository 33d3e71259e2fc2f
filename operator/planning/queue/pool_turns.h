// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/node_gpus.h"
#include "planning/queue/claim_choice.h"
#include "planning/queue/turn_places.h"
#include "planning/queue/turn_plan.h"
#include "planning/queue/waiting_line.h"
#include "planning/tenants/tenant_book.h"

namespace gpupool::planning {

// What a job holds in a pool with spec.queue. Fields of Holding that are left out: it makes room for nobody.
struct TurnHold {
  Holding holding;
  std::optional<base::WallTime> until;   // it has given all back by then; nothing: not known
  bool granted = false;                  // the job's status does not show it yet
  bool awaiting = false;                 // a claim: other jobs have not given back its nodes yet
  std::vector<std::string> awaits = {};  // their UIDs
  // holding.lost_seconds is what a stop would cost when this is put. From then on it grows with time to this.
  std::int64_t lost_at_most = std::numeric_limits<std::int64_t>::max();
  base::WallTime put_at = {};  // set by PoolTurns
};

// The part of PoolState for a pool with spec.queue: what its tenants hold, and the plan. Not thread-safe.
class PoolTurns {
 public:
  using Job = WaitingLine::Job;

  // book: outlives this; it also outlives changes of the pool.
  PoolTurns(std::shared_ptr<const api::GpuPool> pool, TenantBook& book)
      : pool_(std::move(pool)), book_(&book) {}

  // A plan is forgotten when it says so (TurnPlan::look_again).
  void advance(base::WallTime now) {
    now_ = now;
    if (plan_ && plan_->look_again() && *plan_->look_again() <= now) plan_.reset();
  }
  base::WallTime now() const { return now_; }
  const TenantBook& book() const { return *book_; }
  TenantBook& book() { return *book_; }
  // What tenants hold and have used now. This outlives the function.
  TurnOrder::Shares shares() {
    return [this](const std::string& tenant) { return book_->share(tenant, now_); };
  }
  // The tenant that the lease of the job began with; without one, that of its namespace.
  std::string tenant_of(const api::GpuJob& job) const;

  // ending_seconds: Turn::ending_seconds.
  Turn turn_of(const api::GpuJob& job, std::int64_t ending_seconds) const;

  // Returns whether others may claim now what they could not before.
  bool put_hold(const api::ObjectKey& job, TurnHold hold);
  bool remove_hold(const api::ObjectKey& job);  // whether there was one

  // What jobs hold now. Refers to this; valid until the next call that changes it.
  std::vector<HoldingNow> holders();

  TurnPlan* plan() { return plan_ ? &*plan_ : nullptr; }
  const TurnPlan* plan() const { return plan_ ? &*plan_ : nullptr; }
  TurnPlan& plan(std::vector<const PoolNode*> nodes, const WaitingLine& line);
  void forget_plan() { plan_.reset(); }
  // A group of the line has just come into being, maybe with the id of one that is gone.
  void forget_told(const WaitingLine::Group& group) {
    if (group.id < told_.size()) told_[group.id] = {};
  }

  // Calls `tell` for the jobs that the plan answers in another way than at the last call; not for those that
  // get nodes. REQUIRES: there is a plan.
  void tell_refused(const WaitingLine& line, const std::function<void(const Job&)>& tell);

  api::QueueStatus status(const WaitingLine& line);

  // Takes over a forecast of the line.
  void take_forecast(const std::vector<Expected>& found, const WaitingLine& line);
  const ToldPlaces& places() const { return places_; }
  // Returns the jobs whose place or start is told in another way since the last call.
  std::vector<api::ObjectKey> take_replaced() { return std::exchange(replaced_, {}); }

 private:
  void forget_holder(const TurnHold& hold);
  std::optional<base::WallTime> free_at(const std::string& node) const;
  void cover(std::vector<HoldingNow>& all);

  std::shared_ptr<const api::GpuPool> pool_;
  TenantBook* book_;
  base::WallTime now_;
  std::optional<TurnPlan> plan_;
  std::optional<api::ObjectKey> first_;  // in line, in the last plan
  std::map<api::ObjectKey, TurnHold> held_;
  std::unordered_map<std::string, std::vector<const TurnHold*>> holders_;  // by node
  using Told = std::pair<TurnPlan::Cause, std::string>;                    // of kNever: also the message
  std::vector<Told> told_;                                                 // by group
  std::optional<TurnPlan::First> told_first_;
  ToldPlaces places_;
  std::vector<api::ObjectKey> replaced_;
};

}  // namespace gpupool::planning
