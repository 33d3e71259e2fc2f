#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/result.h"
#include "planning/supply.h"
#include "planning/verdict.h"
#include "planning/waiting_line.h"

namespace gpupool::planning {

// Who of a pool's line gets which nodes now. A job that has to wait keeps the nodes it could run on from the
// jobs behind it, so a large job is never starved by small ones; a job that cannot run even on an empty pool
// holds nobody up. What is given or kept only grows along the line, so jobs that ask for the same as one that
// got nothing get nothing either: a long line costs little more than its different demands.
class QueuePlan {
 public:
  // nodes: the pool's members in order of name, with `leased` set for everything held. They outlive the plan,
  // and do not change but for `leased` of what it gave away.
  QueuePlan(std::shared_ptr<const api::GpuPool> pool, const std::vector<const PoolNode*>& nodes,
            const WaitingLine& line);

  // For the last of the line, which has just come.
  void append(const WaitingLine::Where& where);
  bool is_last(const Place& place) const { return !last_ || *last_ < place; }

  // Of a job that was in the line; nothing if it was not.
  std::optional<Verdict> verdict(const WaitingLine::Where& where) const;
  bool gave(const PoolNode& node) const;

  // What all who got nodes got, by job; and their order in the line.
  const std::map<api::ObjectKey, Verdict>& granted() const { return granted_; }
  const std::vector<api::ObjectKey>& grants() const { return grants_; }
  // What the first of those who ask for the same and get nothing is told, and what the others are.
  struct Refusal {
    api::ObjectKey first;
    Verdict to_first;
    Verdict to_others;
  };
  const std::map<Demand, Refusal>& refused() const { return refused_; }

 private:
  using Nodes = std::vector<const PoolNode*>;
  using Candidates = std::vector<const Candidate*>;  // in order of name
  // Whether the job got nodes.
  bool decide(const Demand& demand, const api::ObjectKey& job);
  std::size_t index_of(const std::string& name) const;  // nodes_.size(): there is none
  Candidates usable(const Demand& demand, Supply::Of of) const;
  Supply supply(const Demand& demand, const Candidates& candidates, Supply::Of of) const;
  Candidates named(const Demand& demand) const;  // those that exist
  std::optional<Verdict> problem_of_named(const Demand& demand) const;
  std::optional<Nodes> choose_now(const Demand& demand);
  std::optional<Nodes> choose_named(const Demand& demand) const;
  // The nodes that it could run on if all gave back; or why it could not even then.
  tl::expected<Candidates, Verdict> possible(const Demand& demand) const;
  Verdict wait(const Demand& demand, const Candidates& wanted);
  Verdict never(const Demand& demand) const;

  std::shared_ptr<const api::GpuPool> pool_;
  std::vector<Candidate> nodes_;       // in order of name
  std::map<Demand, Supply> supplies_;  // of demands that have got something
  std::map<api::ObjectKey, Verdict> granted_;
  std::vector<api::ObjectKey> grants_;
  std::map<Demand, Refusal> refused_;
  std::optional<Place> last_;
};

}  // namespace gpupool::planning
