// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/near_groups.h"
#include "planning/nodes/node_needs.h"
#include "planning/queue/min_waste.h"

namespace gpupool::planning {

// A node of a pool during the planning of its queue.
struct Candidate {
  const PoolNode* node;
  bool fits = true;  // its GPUs match spec.gpus of the pool
  bool given = false;
  bool kept = false;   // reserved for a job that waits
  bool spare = false;  // spare_nodes.h

  // Held by nobody and reserved for nobody.
  bool unclaimed() const { return !node->leased && !given && !kept; }
  bool free() const { return unclaimed() && !spare; }
  // Free, or reserved for a job that waits.
  bool free_or_kept() const { return !node->leased && !given && !spare; }
};

// Chooses nodes for jobs with the same demand, one job after the other. Each job gets the nodes on which the
// fewest GPUs stay idle, then the fewest nodes, then the first names; in a homogeneous pool, nodes of one
// model. A job with `near` gets the fewest groups of nodes first (near_groups.h). Cost of next(): O(nodes
// granted); O(candidates x labels) with `near`; O(candidates x workers) for gangs if nodes have different
// numbers of GPUs or have room for different numbers of workers (min_waste.h). Used by QueuePlan; not
// thread-safe.
class NodePicker {
 public:
  enum class Of { kFree, kKept, kAll };
  // candidates: in order of name. kFree: next() uses only nodes that are free when it is called;
  // kKept: also those that are kept. kAll: uses
  // all nodes, so next() always returns the same. REQUIRES: candidates outlive the picker; a node that is not
  // free does not become free again.
  NodePicker(const api::PoolGpus& wanted, const std::vector<const Candidate*>& candidates,
             std::int64_t workers, std::int64_t gpus_per_worker, const NodeNeeds& needs, Of of,
             api::Near near = {});

  static bool is_of(Of of, const Candidate& candidate) {
    return of == Of::kAll || (of == Of::kKept ? candidate.free_or_kept() : candidate.free());
  }

  // Returns the nodes of the next job, in no particular order; nothing if there are too few.
  std::optional<std::vector<const PoolNode*>> next();

 private:
  struct Place {
    const Candidate* candidate;
    std::int64_t slots;  // workers for which the node has room; at least 1
  };
  // The nodes that one job may use together: all, or all of one model.
  struct Group {
    std::vector<Place> nodes = {};  // in order of name; for one worker, fewest GPUs first
    std::size_t taken = 0;          // number of nodes at the front that are not free any more
    std::size_t enough = 0;         // number of nodes that a job needs; 0: min_waste() decides
  };
  bool may_give(const Candidate& candidate) const { return is_of(of_, candidate); }
  void put_in_order(Group& group) const;
  using Nodes = std::vector<const PoolNode*>;
  std::optional<Nodes> choose(Group& group) const;
  // Nodes, and in how many groups of `near` they are, from far to near.
  using NearNodes = std::pair<std::vector<std::int64_t>, Nodes>;
  std::optional<NearNodes> choose_near_ones(const Group& group) const;

  std::int64_t workers_;
  Of of_;
  api::Near near_;
  std::vector<Group> groups_;
};

// Returns the nodes in order of name, as leases contain them.
std::vector<api::NodeRef> references(const std::vector<const PoolNode*>& nodes);

}  // namespace gpupool::planning
