// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/pool_queue.h"
#include "base/clock.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"
#include "planning/tenants/tenant_book.h"

namespace gpupool::planning {

// Whose turn it is, in one pass over the queue of a pool with spec.queue (docs/queue.md#order):
//
//   1. tenants that stay within their guarantee, lowest share of it first
//   2. the others, lowest (average use + present use) / weight first
//
// Of one tenant the highest priority comes first, then the greatest (wait + 60 s) / (bound + 60 s), or the
// oldest job. Ties: the older job, then the tenant's name. Integers only. Not thread-safe.
class TurnOrder {
 public:
  using Shares = std::function<TenantBook::Share(const std::string& tenant)>;
  struct Candidate {
    const Demand* demand;
    const QueuePosition* position;
    const WaitingLine::Job* job;
    const WaitingLine::Group* group;
    const TenantBook::Share* share;  // of its tenant
    std::size_t shape;               // shape_of()
    bool within_guarantee;
  };

  // line: outlives this and does not change. of_slices: jobs may take less than whole GPUs.
  TurnOrder(const api::PoolQueueSpec& spec, const WaitingLine& line, const Shares& shares, base::WallTime now,
            bool of_slices = false);

  // The job whose turn it is; nothing if each group has an answer. Call one of the next four before the next
  // call.
  std::optional<Candidate> next();
  void grant(MilliGpus amount);
  void skip();    // the job has got its nodes in another way
  void refuse();  // the job, and with it the others with the same demand
  void
  refuse_guarantee();  // it would leave the guarantee of its tenant; it has its turn again, with the others

  // A job of the tenant got nodes in another way.
  void add_held(const std::string& tenant, MilliGpus amount);
  const TenantBook::Share& share(const std::string& tenant) const { return lanes_.at(tenant).share; }
  // Groups whose demands differ in their turn alone have the same number, from 0 on.
  std::size_t shape_of(const WaitingLine::Group& group) const { return shapes_[group.id]; }
  std::size_t shapes() const { return shape_count_; }
  // The same also of a tenant without a waiting job.
  TenantBook::Share share_of_any(const std::string& tenant) const;

 private:
  struct Group {
    const Demand* demand;
    const WaitingLine::Group* group;
    WaitingLine::Jobs::const_iterator next;
    std::int64_t priority;
    std::int64_t ratio;      // of `next`, in millionths
    base::WallTime created;  // of `next`
  };
  struct Lane {
    TenantBook::Share share;
    std::vector<Group> groups;  // a heap: the first has its turn
    bool guarantee_refused = false;
    bool guaranteed = false;  // within_guarantee(), of the lanes that are in order
  };
  bool comes_later(const Group& a, const Group& b) const;
  bool comes_later(const Lane* a, const Lane* b) const;
  bool within_guarantee(const Lane& lane) const;
  void begin(Group& group) const;
  void push_lane(Lane* lane);

  Shares shares_;
  bool of_slices_;
  bool oldest_first_;
  std::int64_t assumed_;
  base::WallTime now_;
  std::map<std::string, Lane> lanes_;
  std::vector<std::size_t> shapes_;  // by group
  std::size_t shape_count_ = 0;
  std::vector<Lane*> heap_;
  Lane* first_ = nullptr;    // comes before all in heap_, and is not there
  Lane* current_ = nullptr;  // the same
};

// Returns the waiting job that was told first that it is first in line; null: none.
const WaitingLine::Entry* first_told(const WaitingLine& line);
// Returns the answer to a job whose tenant would hold more than its limit with it.
Verdict over_limit(const std::string& pool, const Tenant& tenant, const std::string& demand);
// Returns the answer to a job of a namespace for which the pool is not.
Verdict refused_tenant(const std::string& pool, const std::string& ns);

// Returns what a job of this demand takes at least, whichever nodes it gets.
MilliGpus least_amount(const Demand& demand);

}  // namespace gpupool::planning
