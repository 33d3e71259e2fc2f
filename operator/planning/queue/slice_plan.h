// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "planning/queue/slice_turns.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"
#include "planning/slices/shared_node.h"

namespace gpupool::planning {

class SlicePass;

// Which waiting jobs of a sharing pool get which slices now, in the order of QueuePlan and with its
// protection of large jobs. nodes: the pool's members with all claims. Pure.
std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const WaitingLine& line);

// The result of plan_slices, kept and updated while it is valid. Owned by PoolState; not thread-safe.
class SlicePlan {
 public:
  // REQUIRES: the pool outlives the plan.
  SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line);
  // Of a pool with spec.queue.
  SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line,
            const SliceTurnInput& turns);
  ~SlicePlan();
  SlicePlan(const SlicePlan&) = delete;
  SlicePlan& operator=(const SlicePlan&) = delete;

  // Adds a job that has just entered the line. REQUIRES: is_last(entry.position()).
  void append(const WaitingLine::Entry& entry);
  bool is_last(const QueuePosition& position) const {
    return positions_.empty() || *positions_.rbegin() < position;
  }
  // Removes a job that has taken its slices. Returns whether the plan is still valid: only if the job was the
  // first, because jobs before it were answered without counting those slices as taken. With turns always: no
  // job is appended to such a plan.
  bool leave(const QueuePosition& position);

  const std::map<api::ObjectKey, Verdict>& verdicts() const { return verdicts_; }
  // As TurnPlan::look_again().
  std::optional<base::WallTime> look_again() const { return look_again_; }

 private:
  bool by_turns_ = false;
  std::unique_ptr<SlicePass> pass_;
  std::map<api::ObjectKey, Verdict> verdicts_;
  std::set<QueuePosition> positions_;
  std::optional<base::WallTime> look_again_;
};

}  // namespace gpupool::planning
