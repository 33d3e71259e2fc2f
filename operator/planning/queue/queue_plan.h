// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "planning/queue/node_choice.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"

namespace gpupool::planning {

// Which waiting jobs of an exclusive pool get which nodes now. A job that has to wait reserves the nodes on
// which it could run, so small jobs cannot starve a large one. A job that could not run even on an empty pool
// reserves nothing and does not block other jobs. Jobs with the same demand as a refused one are refused too,
// so the cost depends on the number of different demands rather than on the number of jobs. Owned by
// PoolState; pure; not thread-safe.
class QueuePlan {
 public:
  // nodes: the pool's members in order of name; `leased` is set on all that are held. REQUIRES: they outlive
  // the plan and do not change, except `leased` of nodes that the plan gave away.
  QueuePlan(std::shared_ptr<const api::GpuPool> pool, const std::vector<const PoolNode*>& nodes,
            const WaitingLine& line);

  // Adds a job that has just entered the line. REQUIRES: is_last(entry.position()).
  void append(const WaitingLine::Entry& entry);
  bool is_last(const QueuePosition& position) const { return !last_ || *last_ < position; }

  // Returns the answer to a job in the line; nothing if the plan does not contain the job.
  std::optional<Verdict> verdict(const WaitingLine::Entry& entry) const;
  // NodeChoice::gave
  bool gave(const PoolNode& node) const { return nodes_.gave(node); }

  // The answers to all jobs that get nodes, by job and in queue order.
  const std::map<api::ObjectKey, Verdict>& granted() const { return granted_; }
  const std::vector<api::ObjectKey>& grants() const { return grants_; }
  // The answers to jobs of one demand that get nothing: to the first of them in the queue, and to the others.
  struct Refusal {
    api::ObjectKey first;
    Verdict to_first;
    Verdict to_others;
  };
  const std::map<Demand, Refusal>& refused() const { return refused_; }

 private:
  // Answers a job. Returns whether it gets nodes.
  bool decide(const Demand& demand, const api::ObjectKey& job);
  void refuse(const Demand& demand, const api::ObjectKey& job);

  NodeChoice nodes_;
  std::map<api::ObjectKey, Verdict> granted_;
  std::vector<api::ObjectKey> grants_;
  std::map<Demand, Refusal> refused_;
  std::optional<QueuePosition> last_;
};

}  // namespace gpupool::planning
