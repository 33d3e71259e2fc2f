// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/node_gpus.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"
#include "planning/slices/shared_node.h"

namespace gpupool::planning {

// A job that holds nodes or slices, or to which the queue has granted some.
struct Holder {
  std::shared_ptr<const api::GpuJob> job;
  std::vector<api::NodeRef> nodes;
  std::int64_t slices = 0;  // of each worker; 0: whole nodes
};

// A pool and its queue at one moment, as far as they matter to one job, the asker. Made by PoolQueue; owned
// by who answers the asker.
struct QueueSnapshot {
  // More jobs than this before the asker are only counted.
  static constexpr std::size_t kMostAhead = 10'000;

  std::shared_ptr<const api::GpuPool> pool;
  std::optional<Verdict> closed;   // why no job can get nodes of the pool
  std::vector<PoolNode> nodes;     // of an exclusive pool, in order of name
  std::vector<SharedNode> shared;  // of a sharing pool, in order of name
  std::vector<Holder> holders;
  std::size_t ahead = 0;  // number of jobs before the asker
  bool granted = false;   // the queue has nodes for the asker; it is not in `line`
  WaitingLine line;       // the jobs before the asker, unless they are too many; the asker is the last
  api::ObjectKey asker;

  const WaitingLine::Entry& entry() const { return *line.find(asker); }  // REQUIRES: !granted
  bool too_many() const { return ahead > kMostAhead; }
};

// What one answer may cost. Not thread-safe.
class Budget {
 public:
  static constexpr std::size_t kEvents = 10'000;
  // expired: whether the time is over.
  explicit Budget(
      std::function<bool()> expired = [] { return false; }, std::size_t events = kEvents)
      : expired_(std::move(expired)), left_(events) {}

  // Takes one event. False: there is none left, or the time is over.
  bool spend() {
    if (left_ == 0 || expired_()) return false;
    --left_;
    return true;
  }

 private:
  std::function<bool()> expired_;
  std::size_t left_;
};

}  // namespace gpupool::planning
