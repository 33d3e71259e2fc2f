#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/node_gpus.h"

namespace gpupool::planning {

// A node of a pool while its line is planned.
struct Candidate {
  const PoolNode* node;
  bool fits = true;  // has GPUs that the pool wants
  bool given = false;
  bool kept = false;  // for a job that waits

  bool free() const { return !node->leased && !given && !kept; }
};

// The nodes for jobs that ask for the same, one job after the other. Each gets those of which the fewest GPUs
// idle, then the fewest nodes, then the first names; in a pool that is homogeneous, of one model. A job costs
// what it gets and not what there is, except for gangs where nodes have different numbers of GPUs.
class Supply {
 public:
  enum class Of { kFree, kAll };
  // candidates: in order of name; they outlive it. kFree: those that are still free when next() is called;
  // one that is not free any more never is again. kAll: whether free or not, so that next() is always the
  // same.
  Supply(const api::PoolGpus& wanted, const std::vector<const Candidate*>& candidates, std::int64_t workers,
         std::int64_t gpus_per_worker, Of of);

  // In no order; nothing if they are not enough.
  std::optional<std::vector<const PoolNode*>> next();

 private:
  // Those that one job may get: all, or all of a model.
  struct Group {
    std::vector<const Candidate*> nodes = {};  // the best first, where the first ones are the best choice
    std::size_t taken = 0;                     // so many at the begin are not free any more
    std::size_t enough = 0;                    // so many of the first are a choice; 0: it takes fewest_idle()
  };
  bool may_give(const Candidate& candidate) const { return of_ == Of::kAll || candidate.free(); }
  void put_in_order(Group& group) const;
  std::optional<std::vector<const PoolNode*>> choose(Group& group) const;

  std::int64_t workers_;
  std::int64_t gpus_per_worker_;
  Of of_;
  std::vector<Group> groups_;
};

// As a lease names them: in order of name.
std::vector<api::NodeRef> references(const std::vector<const PoolNode*>& nodes);

}  // namespace gpupool::planning
