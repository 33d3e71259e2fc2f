// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "planning/queue/queue_plan.h"
#include "planning/queue/slice_plan.h"

// A pool's queue, planned as a whole.
namespace gpupool::test {

using Jobs = std::vector<std::shared_ptr<const api::GpuJob>>;

// They have arrived in this order.
inline planning::WaitingLine line_of(const Jobs& jobs) {
  planning::WaitingLine line;
  for (std::size_t i = 0; i < jobs.size(); ++i) line.put(jobs[i], i);
  return line;
}

inline std::map<api::ObjectKey, planning::Verdict> plan_queue(const api::GpuPool& pool,
                                                              const std::vector<planning::PoolNode>& nodes,
                                                              const planning::WaitingLine& line) {
  std::vector<const planning::PoolNode*> members;
  for (const auto& node : nodes) members.push_back(&node);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  const planning::QueuePlan plan(std::make_shared<const api::GpuPool>(pool), members, line);
  std::map<api::ObjectKey, planning::Verdict> verdicts;
  for (const auto& [demand, group] : line.groups()) {
    for (const auto& [place, job] : group.jobs)
      verdicts[place.key] = plan.verdict(*line.find(place.key)).value();
  }
  return verdicts;
}

}  // namespace gpupool::test
