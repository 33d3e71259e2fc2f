// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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
#include "planning/queue/turn_plan.h"
#include "planning/queue/waiting_line.h"
#include "planning/tenants/tenant_book.h"

namespace gpupool::planning {

// What a job holds in a pool with spec.queue.
struct TurnHold {
  std::string tenant;
  MilliGpus amount = 0;
  std::vector<std::string> nodes;
  base::WallTime since;
  std::optional<base::WallTime> until;  // it has given all back by then; nothing: not known
};

// The part of PoolState for a pool with spec.queue: what its tenants hold, and the plan. Not thread-safe.
class PoolTurns {
 public:
  using Job = WaitingLine::Job;

  // book: outlives this; it also outlives changes of the pool.
  PoolTurns(std::shared_ptr<const api::GpuPool> pool, TenantBook& book)
      : pool_(std::move(pool)), book_(&book) {}

  void advance(base::WallTime now) { now_ = now; }
  base::WallTime now() const { return now_; }
  const TenantBook& book() const { return *book_; }
  TenantBook& book() { return *book_; }

  // ending_seconds: Turn::ending_seconds.
  Turn turn_of(const api::GpuJob& job, std::int64_t ending_seconds) const;

  void put_hold(const api::ObjectKey& job, TurnHold hold);
  void remove_hold(const api::ObjectKey& job);

  TurnPlan* plan() { return plan_ ? &*plan_ : nullptr; }
  const TurnPlan* plan() const { return plan_ ? &*plan_ : nullptr; }
  TurnPlan& plan(std::vector<const PoolNode*> nodes, const WaitingLine& line);
  void forget_plan() { plan_.reset(); }
  // A group of the line has just come into being, maybe at the address of one that is gone.
  void forget_told(const Demand& demand) { told_.erase(&demand); }

  // Calls `tell` for the jobs that the plan answers in another way than at the last call; not for those that
  // get nodes. REQUIRES: there is a plan.
  void tell_refused(const WaitingLine& line, const std::function<void(const Job&)>& tell);

  api::QueueStatus status(const WaitingLine& line);

 private:
  std::shared_ptr<const api::GpuPool> pool_;
  TenantBook* book_;
  base::WallTime now_;
  std::optional<TurnPlan> plan_;
  std::optional<api::ObjectKey> first_;  // in line, in the last plan
  std::map<api::ObjectKey, std::vector<std::string>> held_;
  std::unordered_map<std::string, std::optional<base::WallTime>> until_;  // by node
  using Told = std::pair<TurnPlan::Cause, std::string>;                   // of kNever: also the message
  std::unordered_map<const Demand*, Told> told_;
  std::optional<TurnPlan::First> told_first_;
};

}  // namespace gpupool::planning
