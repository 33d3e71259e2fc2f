#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "planning/shared_node.h"
#include "planning/verdict.h"
#include "planning/waiting_line.h"

namespace gpupool::planning {

class SlicePass;

// Who gets which slices in a sharing pool: the order of QueuePlan, and its protection of a large job against
// small ones behind it. `nodes` are the pool's members with everything claimed on them.
std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const WaitingLine& line);

// The same, kept for as long as it is right.
class SlicePlan {
 public:
  // The pool outlives it.
  SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line);
  ~SlicePlan();
  SlicePlan(const SlicePlan&) = delete;
  SlicePlan& operator=(const SlicePlan&) = delete;

  // For the last of the line, which has just come.
  void append(const Place& place, const api::GpuJob& job);
  bool is_last(const Place& place) const { return places_.empty() || *places_.rbegin() < place; }
  // The job has left the line with what it was given. Whether the plan is still right: those before it did
  // not count on that, so there must be none.
  bool leave(const Place& place);

  const std::map<api::ObjectKey, Verdict>& verdicts() const { return verdicts_; }

 private:
  std::unique_ptr<SlicePass> pass_;
  std::map<api::ObjectKey, Verdict> verdicts_;
  std::set<Place> places_;
};

}  // namespace gpupool::planning
