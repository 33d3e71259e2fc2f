// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "base/result.h"
#include "planning/queue/node_picker.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"

namespace gpupool::planning {

// The nodes of an exclusive pool during one pass over its queue: which of them a job gets, which are reserved
// for jobs that wait, and why a job could not run even on an empty pool. What is given or reserved stays so
// in this pass. Owned by a plan; pure; not thread-safe.
class NodeChoice {
 public:
  using Nodes = std::vector<const PoolNode*>;
  using Candidates = std::vector<const Candidate*>;  // in order of name

  // nodes: the pool's members in order of name; `leased` is set on all that are held. REQUIRES: they outlive
  // this and do not change, except `leased` of nodes that were given away.
  NodeChoice(std::shared_ptr<const api::GpuPool> pool, const std::vector<const PoolNode*>& nodes);
  NodeChoice(const NodeChoice&) = delete;  // it contains pointers into itself
  NodeChoice& operator=(const NodeChoice&) = delete;
  NodeChoice(NodeChoice&&) = default;
  NodeChoice& operator=(NodeChoice&&) = default;
  ~NodeChoice() = default;

  // Gives nodes that nobody holds to a job; nothing if there are too few. kFree: none that are reserved.
  std::optional<Nodes> take(const Demand& demand, NodePicker::Of of = NodePicker::Of::kFree) {
    return take(demand, of, [](const Nodes&) { return true; });
  }
  // The same, if `accept` agrees. REQUIRES: not kAll.
  std::optional<Nodes> take(const Demand& demand, NodePicker::Of of,
                            const std::function<bool(const Nodes&)>& accept);
  // Returns the nodes on which the job could run if all other jobs gave back theirs; or why it could not run.
  tl::expected<Candidates, Verdict> possible(const Demand& demand) const;
  // The nodes on which a job that waits can start first, and when that is. Nothing as the time: not known;
  // then the nodes are those among `wanted` that are free now.
  struct Start {
    std::optional<base::WallTime> at;
    Candidates nodes;
  };
  // wanted: possible(demand). free_at: when a node is free; nothing if that is not known.
  using FreeAt = std::function<std::optional<base::WallTime>(const Candidate&)>;
  Start earliest(const Demand& demand, const Candidates& wanted, const FreeAt& free_at) const;
  // Returns the nodes that the job would get if these were free, and no others; nothing if there are too few.
  // from: among possible(demand), in order of name.
  std::optional<Nodes> choose_among(const Demand& demand, const Candidates& from) const;
  // Gives these nodes to a job, also those that others hold.
  void give(const Nodes& nodes);
  // False if less nodes are free than the pool keeps as spares. Then the next that comes free is one.
  bool has_its_spares() const;
  // Reserves these nodes for a job that waits.
  void keep(const Demand& demand, const Candidates& wanted);
  // Returns the answer to a job that waits for these nodes. It says so if some are reserved for others.
  Verdict wait_for(const Demand& demand, const Candidates& wanted) const;

  // False for a spare that a job with spec.nodes got: others have become spares, and with that job's lease a
  // new plan may choose other nodes for the jobs before it.
  bool gave(const PoolNode& node) const;

 private:
  std::size_t index_of(const std::string& name) const;  // nodes_.size() if there is none
  Candidates usable(const Demand& demand, NodePicker::Of of) const;
  NodePicker supply(const Demand& demand, const Candidates& candidates, NodePicker::Of of) const;
  Candidates named(const Demand& demand) const;  // the members among demand.nodes
  std::optional<Verdict> problem_of_named(const Demand& demand) const;
  std::optional<Nodes> choose_now(const Demand& demand, NodePicker::Of of);
  std::optional<Nodes> choose_unavoided(const Demand& demand, NodePicker::Of of) const;
  std::optional<Nodes> choose_named(const Demand& demand, NodePicker::Of of) const;
  Verdict never(const Demand& demand) const;
  std::string mismatches() const;
  std::optional<Verdict> only_without_foreign(const Demand& demand, const Nodes& nodes) const;

  std::shared_ptr<const api::GpuPool> pool_;
  std::int64_t spares_;                    // number of nodes to keep free
  std::vector<Candidate> nodes_;           // in order of name
  std::map<Demand, NodePicker> supplies_;  // for demands that get nodes
};

}  // namespace gpupool::planning
