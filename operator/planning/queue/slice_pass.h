// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"
#include "planning/slices/choose_slices.h"
#include "planning/slices/shared_node.h"

namespace gpupool::planning {

// One pass over the queue of a sharing pool, with the steps of QueuePlan: grant, else reserve, else refuse.
// Pure; not thread-safe.
class SlicePass {
 public:
  using Nodes = std::vector<const SharedNode*>;

  // REQUIRES: the pool outlives this.
  SlicePass(const api::GpuPool& pool, std::vector<SharedNode> nodes);

  const std::string& pool() const { return pool_.metadata.name; }

  // Answers the next job of the line.
  Verdict decide(const WaitingLine::Entry& entry);
  // Keeps from later jobs the nodes for which the last job waits. REQUIRES: its verdict `waits`.
  void keep();

  // Of a verdict that gives slices: whether the job may have them. If not, it gets a verdict without nodes or
  // a reason.
  std::function<bool(const Verdict& verdict)> accept = [](const Verdict&) { return true; };

  // What a job could get if other jobs gave back slices (claims).
  bool notes_grants = false;  // for add_grants()
  const std::vector<SharedNode>& nodes() const { return nodes_; }
  // Workers of the job for which a node has room: now, and if it were empty. Zero on nodes that it may not
  // use.
  struct Room {
    std::int64_t now = 0;
    std::int64_t empty = 0;
  };
  std::vector<Room> rooms(const WaitingLine::Entry& entry) const;  // in the order of nodes()
  // Returns the answer if the nodes were these, in the order of nodes(); nothing: there is no room.
  std::optional<Verdict> answer_on(const WaitingLine::Entry& entry, const Nodes& nodes) const;
  // Adds what jobs got in this pass to another description of a node. index: in nodes().
  void add_grants(std::size_t index, SharedNode& node) const;
  // The job gets the slices of the verdict.
  void give(const WaitingLine::Entry& entry, const Verdict& verdict);

 private:
  struct Demanded;
  Demanded demanded(const WaitingLine::Entry& entry) const;
  Verdict decide_any(const Demanded& demand);
  Verdict decide_named(const Demanded& demand);
  Verdict why_not(const Demanded& demand) const;
  Verdict grant(const Demanded& demand, const SlicePlacement& placement);
  Verdict wait(const Demanded& demand, const Nodes& wanted);
  void take(const Demanded& demand, const Verdict& verdict);
  Verdict placed(const Demanded& demand, const SlicePlacement& placement) const;
  std::optional<SlicePlacement> choose(const Demanded& demand, const Nodes& nodes) const;
  Nodes unclaimed(Nodes nodes) const;
  Nodes in_large_groups(const Nodes& nodes, const Demanded& demand) const;
  bool is_kept(const SharedNode& node) const { return kept_for_others_.contains(node.node.name); }
  std::size_t index_of(const std::string& node) const;  // nodes_.size(): not there

  const api::GpuPool& pool_;
  bool one_model_;
  std::vector<SharedNode> nodes_;
  std::vector<SharedNode> empty_;  // the same nodes without pods and claims
  std::vector<SharedNode> sound_;  // like empty_, with all GPUs healthy
  std::set<std::string> kept_for_others_;
  std::vector<std::string> wanted_;  // by the last job, if it waits
  struct Granted {
    std::int64_t workers;
    std::int64_t slices;
    Resources each;
  };
  std::map<std::size_t, std::vector<Granted>> granted_;  // in this pass, by node
};

}  // namespace gpupool::planning
