// SPDX-License-Identifier: Apache-2.0
// Of a pool with spec.queue: who has which place.
#include "api/v1alpha1/reasons.h"
#include "planning/queue/pool_state.h"

namespace gpupool::planning {

std::optional<api::ObjectKey> PoolState::first_in_line() const {
  if (!pool_->spec.sharing) {
    const auto* plan = turns_->plan();
    return plan != nullptr && plan->first() ? std::optional(plan->first()->job) : std::nullopt;
  }
  const auto* told = first_told(line_);
  return told == nullptr ? std::nullopt : std::optional(told->position().key);
}

std::vector<const WaitingLine::Entry*> PoolState::first_places(std::size_t most, const Describe& describe) {
  if (line_.size() == 0) return {};
  LineToPlace queue{*pool_->spec.queue, line_, turns_->shares(), turns_->now()};
  if (pool_->spec.sharing) {
    const auto& verdicts = slices(describe);
    queue.of_slices = true;
    queue.is_out = [&verdicts](const WaitingLine::Entry& entry) {
      const auto found = verdicts.find(entry.position().key);
      return found != verdicts.end() && found->second.nodes.empty() && !found->second.waits &&
             found->second.reason != api::reason::kLimitReached;
    };
    queue.starts = [&verdicts](const api::ObjectKey& job) {
      const auto found = verdicts.find(job);
      return found != verdicts.end() && !found->second.nodes.empty();
    };
  } else {
    const auto& plan = turn_plan();
    queue.is_out = [&plan](const WaitingLine::Entry& entry) {
      const auto refusal = plan.refusal(entry.group());
      return refusal == TurnPlan::Cause::kNever || refusal == TurnPlan::Cause::kRefused;
    };
    queue.starts = [&plan](const api::ObjectKey& job) { return plan.granted().contains(job); };
  }
  queue.first = first_in_line();
  return places_of(queue, most);
}

}  // namespace gpupool::planning
