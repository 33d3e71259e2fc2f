// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planning/forecast/snapshot.h"
#include "planning/queue/slice_turns.h"

namespace gpupool::planning {

// Returns the nodes of a sharing pool as they are when all jobs have left: what remains is what nobody in
// queue.holders has.
std::vector<SharedNode> drained_nodes(const QueueSnapshot& queue);

// The nodes of a sharing pool during a forecast. Slices of a worker are given to the fullest GPU on which
// they fit, and taken back from the fullest one that has as many, because a lease does not tell the GPU. Not
// thread-safe.
class SliceWorld {
 public:
  // pool: outlives this. holders: who holds slices of the nodes.
  SliceWorld(const api::GpuPool& pool, std::vector<SharedNode> nodes, const std::vector<Holder>& holders);
  explicit SliceWorld(const QueueSnapshot& queue) : SliceWorld(*queue.pool, queue.shared, queue.holders) {}

  // Returns the answers to all jobs of the line.
  std::map<api::ObjectKey, Verdict> plan(const WaitingLine& line) const;
  // The same of a pool with spec.queue.
  std::map<api::ObjectKey, Verdict> plan(const WaitingLine& line, const SliceTurnInput& turns) const;
  const SharedNode* node(const std::string& name) const;  // null: not in the pool
  void take(const api::GpuJob& job, const Verdict& given);
  void give_back(const api::GpuJob& job, const Verdict& given);

 private:
  const Resources& each_of(const api::GpuJob& job);
  SharedNode* find(const std::string& name);
  void count_requests(SharedNode& node);

  const api::GpuPool& pool_;
  std::vector<SharedNode> nodes_;
  std::unordered_map<std::string, std::size_t> index_;
  // By node: number of workers, with what each takes besides slices.
  std::unordered_map<std::string, std::vector<std::pair<const Resources*, std::int64_t>>> workers_;
  std::map<std::string, Resources> each_;  // by template
};

}  // namespace gpupool::planning
