// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/slice_plan.h"

#include "planning/queue/slice_pass.h"

namespace gpupool::planning {

SlicePlan::SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line)
    : pass_(std::make_unique<SlicePass>(pool, std::move(nodes))) {
  for (const auto& job : line.in_order()) append(*line.find(job->metadata.key()));
}

SlicePlan::SlicePlan(const api::GpuPool& pool, std::vector<SharedNode> nodes, const WaitingLine& line,
                     const SliceTurnInput& turns)
    : by_turns_(true), pass_(std::make_unique<SlicePass>(pool, std::move(nodes))) {
  SliceTurns pass(*pass_, pool, line, turns);
  verdicts_ = pass.run();
  look_again_ = pass.look_again();
}

SlicePlan::~SlicePlan() = default;

void SlicePlan::append(const WaitingLine::Entry& entry) {
  positions_.insert(positions_.end(), entry.position());
  auto& verdict = verdicts_[entry.position().key] = pass_->decide(entry);
  if (verdict.waits) pass_->keep();
}

bool SlicePlan::leave(const QueuePosition& position) {
  const bool first = !positions_.empty() && *positions_.begin() == position;
  positions_.erase(position);
  verdicts_.erase(position.key);
  return first || by_turns_;
}

std::map<api::ObjectKey, Verdict> plan_slices(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                                              const WaitingLine& line) {
  return SlicePlan(pool, std::move(nodes), line).verdicts();
}

}  // namespace gpupool::planning
