// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/pool_queue.h"
#include "base/clock.h"
#include "planning/nodes/node_gpus.h"
#include "planning/tenants/tenant_book.h"

namespace gpupool::planning {

// A job that holds nodes, as those see it that wait for nodes.
struct Holding {
  api::ObjectKey job;
  std::string uid;
  std::string tenant;
  std::int64_t priority = 0;  // at most maxPriority of its tenant
  MilliGpus amount = 0;
  std::vector<std::string> nodes;
  bool may_yield = false;        // preemptible, and all workers run
  bool saves = false;            // has spec.checkpoint
  std::int64_t yields = 0;       // times that it has made room
  base::WallTime running_since;  // REQUIRES: may_yield
  base::WallTime held_since;
  std::int64_t lost_seconds = 0;    // of work that a stop costs at most
  std::int64_t ending_seconds = 0;  // from the notice until it has given back its nodes, at most
};

// The same in one pass over the queue. Refers to the holding.
struct HoldingNow {
  const Holding* holding = nullptr;
  bool covered = false;           // by the guarantee of its tenant
  bool may_yield = false;         // as the holding says, and nobody waits for it to make room
  std::int64_t lost_seconds = 0;  // now
};

// Why others make room for a job (QueueYield).
enum class YieldRule { kGuarantee, kPriority, kShare };

// Returns when the rule lets a job yield again.
base::WallTime guarded_until(const Holding& holding, const api::QueueYield& spec, YieldRule rule);

// The job that claims nodes of others.
struct Claimant {
  std::string tenant;
  std::int64_t priority = 0;
  std::int64_t missing = 0;  // workers for which there is no room on the nodes that are free
  MilliGpus least = 0;       // that it takes
};

// Nodes that a claimant would get.
struct ClaimRoom {
  std::vector<const PoolNode*> nodes;
  std::vector<std::size_t> holders;  // whose nodes are among them, once each; in order
  MilliGpus amount = 0;
};

// Who has to yield, and the nodes that the claimant gets.
struct ClaimChoice {
  std::vector<std::size_t> victims;
  ClaimRoom room;
};

// Chooses the jobs that make room for others. Each can be needed, and all together are as the rule says:
//
//   kGuarantee  jobs of other tenants that are not covered; with the claimant, its tenant is within its
//               guarantee. Jobs without a checkpoint only if those with one do not suffice
//   kPriority   jobs of the tenant with a lower priority
//   kShare      jobs of other tenants that are not covered and have a checkpoint; with the claimant, its
//               tenant still has less than theirs have without all these jobs, by spec.marginPercent
//
// The cheapest job that suffices alone is taken. Else: those of the tenant with the greatest share first,
// then the lowest priority, the least cost per GPU, and the job that has held its nodes for the shortest
// time. Work that is lost and the restart are the cost. Pure; refers to what it is made from.
class YieldChoice {
 public:
  using Shares = std::function<TenantBook::Share(const std::string& tenant)>;
  using Freed = std::vector<bool>;  // by holder
  // Returns the nodes that the claimant gets if those of these holders were free; nothing if there are too
  // few. More holders never make them too few.
  using RoomOf = std::function<std::optional<ClaimRoom>(const Freed&)>;

  YieldChoice(const api::QueueYield& spec, std::vector<HoldingNow> holders, Shares shares,
              base::WallTime now);

  // worth: of each holder, the number of workers that its nodes have room for, if the claimant may use them.
  // Calls room_of about 20 times, at most a few hundred.
  std::optional<ClaimChoice> choose(const Claimant& claimant, YieldRule rule,
                                    const std::vector<std::int64_t>& worth, const RoomOf& room_of) const;
  // What the rule offers such a claimant, whichever nodes it needs.
  struct Outlook {
    bool now = false;                    // there are jobs that may yield to it
    std::optional<base::WallTime> next;  // when the first of those that are guarded now may; nothing: none
  };
  Outlook outlook(const Claimant& claimant, YieldRule rule) const;
  const std::vector<HoldingNow>& holders() const { return holders_; }
  bool any_uncovered() const { return !uncovered_.empty(); }

 private:
  struct Search;
  using Victims = std::vector<std::size_t>;
  const Victims& among(const Claimant& claimant, YieldRule rule) const;
  bool is_victim(const HoldingNow& holder, const Claimant& claimant, YieldRule rule) const;
  bool guarded(const HoldingNow& holder, YieldRule rule) const;
  bool keeps_margin(const Claimant& claimant, MilliGpus amount, const std::string& tenant,
                    MilliGpus freed) const;
  bool is_legal(const Search& search, const ClaimChoice& choice) const;
  void put_in_order(Victims& victims) const;
  void drop_too_many(const Claimant& claimant, Victims& victims) const;
  std::optional<ClaimChoice> cheapest(const Search& search, const Victims& victims) const;
  std::optional<ClaimChoice> first_enough(const Search& search, Victims victims) const;
  std::optional<ClaimChoice> choose_among(const Search& search, Victims victims) const;
  const TenantBook::Share& share(const std::string& tenant) const;

  api::QueueYield spec_;
  std::vector<HoldingNow> holders_;
  Shares shares_;
  base::WallTime now_;
  Victims uncovered_;                                   // those that may yield
  std::unordered_map<std::string, Victims> by_tenant_;  // the same, also covered ones
  mutable std::unordered_map<std::string, TenantBook::Share> known_;
};

}  // namespace gpupool::planning
