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
#include "planning/membership.h"
#include "planning/plan_slices.h"
#include "planning/queue_plan.h"

namespace gpupool::controllers {

// Who has a node, of jobs and of grants.
struct Holders {
  int whole = 0;
  int sharing = 0;
};

// A node of a pool.
struct Member {
  std::shared_ptr<const api::Node> node;
  planning::PoolNode described;  // `leased`: it is marked, or runs workers, or is held
  bool occupied = false;         // marked, or runs workers
  Holders holders;
};

// What is known of one pool, changed bit by bit, and the plan of its queue for as long as that is still
// right. Pure; not thread-safe.
class PoolState {
 public:
  using Job = planning::WaitingLine::Job;

  explicit PoolState(std::shared_ptr<const api::GpuPool> pool);
  PoolState(const PoolState&) = delete;
  PoolState& operator=(const PoolState&) = delete;

  const std::shared_ptr<const api::GpuPool>& pool() const { return pool_; }
  // Why nobody gets nodes of it; nothing if it works.
  const std::optional<planning::Verdict>& closed() const { return closed_; }
  bool plans_nodes() const { return !closed_ && !pool_->spec.sharing; }

  void put_member(Member member);
  void remove_member(const std::string& node);
  void set_holders(const std::string& node, const Holders& holders);
  void exclude(const std::string& node, const planning::Placement::Exclusion& why);
  void readmit(const std::string& node);
  const std::map<std::string, Member>& members() const { return members_; }
  planning::Members membership() const;

  void put_waiting(Job job, std::uint64_t arrival);
  // nodes: what it holds by now; empty: nothing.
  void remove_waiting(const api::ObjectKey& job, const std::vector<api::NodeRef>& nodes);
  // It keeps what the plan gave it until its status shows that.
  void set_aside(const api::ObjectKey& job, const planning::Verdict& given);
  const planning::WaitingLine& line() const { return line_; }

  std::set<api::ObjectKey> holding;

  // Only where plans_nodes().
  std::optional<planning::Verdict> verdict(const api::ObjectKey& job);
  // Of jobs in the line, those whose verdict is another than when last asked; also those that get nodes, once
  // until they have come().
  std::vector<Job> news();
  // The job asks: what it got may come to nothing, and what it gets later is news again.
  void come(const api::ObjectKey& job) { called_.erase(job); }
  // What the plan, if it is still right, gave the job; it need not wait any more.
  const planning::Verdict* given(const api::ObjectKey& job) const;

  // Of a sharing pool. What is on the node, or reported of it, may be another than before.
  void touch(const std::string& node);
  // All members as they are now; `describe` is asked about those that were touched.
  using Describe = std::function<planning::SharedNode(const Member&)>;
  const std::map<std::string, planning::SharedNode>& shared(const Describe& describe);
  using Verdicts = std::map<api::ObjectKey, planning::Verdict>;
  const Verdicts& slices(const Describe& describe);  // only if it is not closed()

 private:
  using Told = std::map<planning::Demand, planning::QueuePlan::Refusal>;

  planning::QueuePlan& plan();
  void forget_plan();  // of either kind: something has changed that it did not count on
  void update_leased(Member& member);

  std::shared_ptr<const api::GpuPool> pool_;
  std::optional<planning::Verdict> closed_;
  std::map<std::string, Member> members_;
  std::map<std::string, planning::Placement::Exclusion> excluded_;
  planning::WaitingLine line_;
  std::optional<planning::QueuePlan> plan_;
  std::map<std::string, planning::SharedNode> shared_;
  std::set<std::string> touched_;
  std::optional<planning::SlicePlan> slice_plan_;
  Told told_;
  std::size_t told_grants_ = 0;      // of this plan
  std::set<api::ObjectKey> called_;  // told that they get nodes
};

}  // namespace gpupool::controllers
