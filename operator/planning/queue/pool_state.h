// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/membership.h"
#include "planning/queue/pool_turns.h"
#include "planning/queue/queue_plan.h"
#include "planning/queue/slice_plan.h"

namespace gpupool::planning {

// Number of holders of a node, jobs with a lease and granted jobs together.
struct Holders {
  int whole = 0;    // hold the whole node
  int sharing = 0;  // hold slices
};

// A member of a pool.
struct Member {
  std::shared_ptr<const api::Node> node;
  PoolNode described;     // `leased`: the node is occupied or held
  bool occupied = false;  // has lease marks, or runs workers
  Holders holders;
};

// The state of one pool and its queue, updated by single changes, and the plan of the queue for as long as it
// is valid. Owned and locked by PoolQueue; pure; not thread-safe.
//
// A plan stays valid while only expected changes happen: jobs take what it gave them, or enter at the end of
// the line. Any other change drops it, and the next question builds a new one.
class PoolState {
 public:
  using Job = WaitingLine::Job;
  // Returns the description of a member, without what the jobs with the UIDs `leaving` have there.
  using Leaving = std::set<std::string>;
  using Describe = std::function<SharedNode(const Member&, const Leaving& leaving)>;

  // book: with spec.queue of the pool, else null; outlives this. prices_of: the moment whose prices hold.
  explicit PoolState(std::shared_ptr<const api::GpuPool> pool, TenantBook* book = nullptr,
                     base::WallTime prices_of = {});
  PoolState(const PoolState&) = delete;
  PoolState& operator=(const PoolState&) = delete;

  const std::shared_ptr<const api::GpuPool>& pool() const { return pool_; }
  // Why no job can get nodes of the pool; nullopt if jobs can.
  const std::optional<Verdict>& closed() const { return closed_; }
  bool plans_nodes() const { return !closed_ && !pool_->spec.sharing; }

  void put_member(Member member);
  void remove_member(const std::string& node);
  void set_holders(const std::string& node, const Holders& holders);
  void exclude(const std::string& node, const NodeMembership::Exclusion& why);
  void readmit(const std::string& node);
  const std::map<std::string, Member>& members() const { return members_; }
  Members membership() const;

  // Sets the time of a pool with spec.queue. REQUIRED before questions.
  void advance(base::WallTime now);
  // When time alone lets a job claim what it cannot now, by the plan; nothing: time alone changes nothing.
  std::optional<base::WallTime> look_again() const;
  // REQUIRES: turns().
  void put_hold(const api::ObjectKey& job, TurnHold hold);

  // Null without spec.queue.
  PoolTurns* turns() { return turns_ ? &*turns_ : nullptr; }
  const PoolTurns* turns() const { return turns_ ? &*turns_ : nullptr; }
  // What this many slices per worker, or whole nodes if 0, of these nodes count. REQUIRES: turns().
  MilliGpus amount_of(const std::vector<api::NodeRef>& refs, std::int64_t slices) const;
  // The job holds nothing any more. REQUIRES: turns().
  void remove_hold(const api::ObjectKey& job);

  // avoided, turn: those of Demand.
  void put_waiting(Job job, std::uint64_t arrival, std::vector<std::string> avoided = {}, Turn turn = {});
  // nodes: the nodes that the job holds now; empty if none.
  void remove_waiting(const api::ObjectKey& job, const std::vector<api::NodeRef>& nodes);
  // Removes the job from the line. The job keeps its grant until its status shows the lease.
  void reserve(const api::ObjectKey& job, const Verdict& given);
  // A job that is not in the line takes these nodes, which the plan may have given to one that is.
  void take_past_line(const std::vector<api::NodeRef>& nodes);
  const WaitingLine& line() const { return line_; }

  std::set<api::ObjectKey> holding;
  std::set<api::ObjectKey> awaiting;  // have a claim: other jobs make room for them

  // Returns the answer to a job in the line. REQUIRES: plans_nodes().
  std::optional<Verdict> verdict(const api::ObjectKey& job);
  // Returns the jobs in the line whose verdict has changed since the last call, and those that get nodes. A
  // job that gets nodes is returned once, until clear_notified().
  std::vector<Job> take_notifications();
  // Returns the first jobs of the line in the order of their turns, without those that start now or could
  // never start; at most `most`. REQUIRES: turns(), !closed(). describe: of a sharing pool.
  std::vector<const WaitingLine::Entry*> first_places(std::size_t most, const Describe& describe);
  // The job that is first in line. REQUIRES: turns().
  std::optional<api::ObjectKey> first_in_line() const;
  // Clears the notified flag, so that a later grant wakes the job again.
  void clear_notified(const api::ObjectKey& job) { notified_.erase(job); }
  // Returns the nodes that the plan gives to the job; null if there is no valid plan, or none for the job.
  const Verdict* given(const api::ObjectKey& job) const;

  // Only in a sharing pool. Marks the node stale: its pods or its report may have changed.
  void touch(const std::string& node);
  const std::map<std::string, SharedNode>& shared(const Describe& describe);
  using Verdicts = std::map<api::ObjectKey, Verdict>;
  // Answers of a sharing pool. REQUIRES: !closed().
  const Verdicts& slices(const Describe& describe);

 private:
  using Told = std::map<Demand, QueuePlan::Refusal>;

  QueuePlan& plan();
  TurnPlan& turn_plan();
  std::vector<const PoolNode*> nodes() const;  // in order of name
  void forget_plan();                          // drops the plan of either kind after an unexpected change
  void update_leased(Member& member);

  std::shared_ptr<const api::GpuPool> pool_;
  std::optional<Verdict> closed_;
  std::map<std::string, Member> members_;
  std::map<std::string, NodeMembership::Exclusion> excluded_;
  WaitingLine line_;
  std::optional<QueuePlan> plan_;
  std::optional<PoolTurns> turns_;
  std::map<std::string, SharedNode> shared_;
  std::set<std::string> touched_;
  std::optional<SlicePlan> slice_plan_;
  Told told_;
  std::size_t told_grants_ = 0;        // number of grants of this plan that were notified
  std::set<api::ObjectKey> notified_;  // jobs that were told that they get nodes
};

}  // namespace gpupool::planning
