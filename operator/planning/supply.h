#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planning/choose_nodes.h"
#include "planning/waiting_line.h"

namespace gpupool::planning {

// A node of a pool while its line is planned.
struct Candidate {
  const PoolNode* node;
  bool fits;  // has GPUs that the pool wants
  bool given = false;
  bool kept = false;  // for a job that waits

  bool free() const { return !node->leased && !given && !kept; }
};

// The nodes for jobs of one demand, one job after the other: each time those that choose_nodes_of takes of
// the candidates that are still free. A job costs what it gets and not what there is, except for gangs where
// nodes have different numbers of GPUs.
class Supply {
 public:
  // candidates: free ones in order of name; they outlive it. One that is not free any more never is again.
  Supply(const api::PoolGpus& wanted, const std::vector<const Candidate*>& candidates, const Demand& demand);

  std::optional<std::vector<const PoolNode*>> next();

 private:
  // Those that one job may get: all, or all of a model.
  struct Group {
    std::vector<const Candidate*> nodes = {};  // the best first, where the first ones are the best choice
    std::size_t taken = 0;                     // so many at the begin are not free any more
    std::size_t enough = 0;  // so many of the first are a choice; 0: only choose_nodes knows
  };
  void put_in_order(Group& group) const;
  std::optional<std::vector<const PoolNode*>> choose(Group& group) const;

  std::int64_t workers_;
  std::int64_t gpus_per_worker_;
  std::vector<Group> groups_;
};

}  // namespace gpupool::planning
