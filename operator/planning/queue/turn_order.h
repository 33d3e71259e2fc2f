// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
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
  // As refuse(), and now and then asks about the other groups of the tenant too: out(group) returns whether
  // the group is refused whatever happens before its turn.
  template <typename Out>
  void refuse_with(const Out& out);
  void
  refuse_guarantee();  // it would leave the guarantee of its tenant; it has its turn again, with the others

  // A job of the tenant got nodes in another way.
  void add_held(const std::string& tenant, MilliGpus amount);
  const TenantBook::Share& share(const std::string& tenant) const { return lanes_.at(tenant).share; }
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
    std::size_t refusals = 0;
  };
  bool comes_later(const Group& a, const Group& b) const;
  bool comes_later(const Lane* a, const Lane* b) const;
  bool within_guarantee(const Lane& lane) const;
  void begin(Group& group) const;  // with its next job
  void rate(Group& group, std::int64_t bound_seconds) const;
  void push_lane(Lane* lane);
  void drop_first(Lane& lane) const;

  Shares shares_;
  bool of_slices_;
  bool oldest_first_;
  std::int64_t assumed_;
  base::WallTime now_;
  std::map<std::string, Lane> lanes_;
  std::vector<Lane*> heap_;
  Lane* first_ = nullptr;    // comes before all in heap_, and is not there
  Lane* current_ = nullptr;  // the same
};

// After each doubling of the refusals of a tenant all its groups are asked: that costs a few looks at each in
// a pass, which is less than to keep the refused ones in order until their turn.
template <typename Out>
void TurnOrder::refuse_with(const Out& out) {
  auto& lane = *current_;
  drop_first(lane);
  if (std::has_single_bit(++lane.refusals)) {
    const auto is_out = [&](const Group& group) { return out(*group.demand, *group.group, lane.share); };
    if (std::erase_if(lane.groups, is_out) > 0)
      std::ranges::make_heap(lane.groups, [&](const Group& a, const Group& b) { return comes_later(a, b); });
  }
  push_lane(std::exchange(current_, nullptr));
}

// Returns the waiting job that was told first that it is first in line; null: none.
const WaitingLine::Entry* first_told(const WaitingLine& line);
// Returns the answer to a job whose tenant would hold more than its limit with it.
// more: what the job takes, which can be more than its workers need where each node gives them the same.
Verdict over_limit(const std::string& pool, const Tenant& tenant, MilliGpus more, const std::string& demand);
// Returns the answer to a job of a namespace for which the pool is not.
Verdict refused_tenant(const std::string& pool, const std::string& ns);

// Returns what a job of this demand takes at least, whichever nodes it gets.
MilliGpus least_amount(const Demand& demand);

}  // namespace gpupool::planning
