// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/queue_plan.h"

#include <iterator>
#include <queue>
#include <utility>

namespace gpupool::planning {
namespace {

// The next job of one group.
struct Head {
  const Demand* demand;
  WaitingLine::Jobs::const_iterator next;
  WaitingLine::Jobs::const_iterator end;
  // Reversed, because the top of a std::priority_queue is the largest element.
  bool operator<(const Head& other) const { return other.next->first < next->first; }
};

}  // namespace

// One pass over the queue, in five steps:
//
//   1. Candidates  match the GPUs of each node with spec.gpus of the pool; set its spares aside (NodeChoice)
//   2. Order       take jobs in queue order, from a heap with the next job of each group
//   3. Grant       give the job free nodes (NodeChoice::take)
//   4. Reserve     if there are too few, but an empty pool has enough: reserve those nodes (NodeChoice::keep)
//   5. Refuse      else tell why even an empty pool does not suffice (NodeChoice::possible)
//
// After 4 and 5 the rest of the group gets the same answer, because nodes that are given or reserved do not
// become available again in this pass.
QueuePlan::QueuePlan(std::shared_ptr<const api::GpuPool> pool, const std::vector<const PoolNode*>& nodes,
                     const WaitingLine& line)
    : nodes_(std::move(pool), nodes) {
  std::priority_queue<Head> heads;
  for (const auto& [demand, group] : line.groups()) {
    heads.push({&demand, group.jobs.begin(), group.jobs.end()});
    const auto& end = std::prev(group.jobs.end())->first;
    if (is_last(end)) last_ = end;
  }
  while (!heads.empty()) {
    auto head = heads.top();
    heads.pop();
    const bool goes_on = decide(*head.demand, head.next->first.key);
    if (goes_on && ++head.next != head.end) heads.push(head);
  }
}

void QueuePlan::append(const WaitingLine::Entry& entry) {
  last_ = entry.position();
  if (!refused_.contains(entry.demand())) decide(entry.demand(), entry.position().key);
}

std::optional<Verdict> QueuePlan::verdict(const WaitingLine::Entry& entry) const {
  if (const auto got = granted_.find(entry.position().key); got != granted_.end()) return got->second;
  const auto refusal = refused_.find(entry.demand());
  if (refusal == refused_.end() || is_last(entry.position())) return std::nullopt;
  return refusal->second.first == entry.position().key ? refusal->second.to_first : refusal->second.to_others;
}

// Steps 4 and 5: the answer to a group of which `job` is the first.
void QueuePlan::refuse(const Demand& demand, const api::ObjectKey& job) {
  if (const auto wanted = nodes_.possible(demand)) {
    auto to_first = nodes_.wait_for(demand, *wanted);
    nodes_.keep(demand, *wanted);
    refused_[demand] = {job, std::move(to_first),
                        nodes_.wait_for(demand, *wanted)};  // the others also wait behind this one
  } else {
    refused_[demand] = {job, wanted.error(), wanted.error()};
  }
}

// Steps 3 to 5 for the first job of a group that has no answer yet.
bool QueuePlan::decide(const Demand& demand, const api::ObjectKey& job) {
  if (const auto now = nodes_.take(demand)) {
    granted_[job] = {references(*now), "", ""};
    grants_.push_back(job);
    return true;
  }
  refuse(demand, job);
  return false;
}

}  // namespace gpupool::planning
