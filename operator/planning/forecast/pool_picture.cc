// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/pool_picture.h"

#include <algorithm>
#include <set>
#include <string>

#include "planning/queue/spare_nodes.h"
#include "planning/slices/choose_slices.h"
#include "planning/slices/free_slices.h"
#include "planning/slices/slice_size.h"

namespace gpupool::planning {
namespace {

constexpr std::size_t kMostExamples = 3;
constexpr std::size_t kMostNames = 3;

enum class NodeState { kUnsuited, kNotReady, kCordoned, kTainted, kLeased, kForeign, kSpare, kFree };

struct NodeView {
  NodeState state;
  std::string why;  // why it is unsuited
};

// The states that are the same in both kinds of pools; kFree if none applies. unsuited: why it is, or empty.
NodeView state_of(const PoolNode& node, const Demand& demand, std::string unsuited) {
  if (unsuited.empty()) unsuited = unmet_need(node, demand.needs);
  if (!unsuited.empty()) return {NodeState::kUnsuited, std::move(unsuited)};
  if (!node.ready) return {NodeState::kNotReady, "is not ready"};
  if (node.cordoned || node.draining)
    return {NodeState::kCordoned, node.draining ? "is being drained" : "is cordoned"};
  if (!tolerates(demand.needs.tolerations, node.foreign_taints)) return {NodeState::kTainted, "is tainted"};
  return {NodeState::kFree, ""};
}

NodeView state_of(const PoolNode& node, const Demand& demand, const api::GpuPool& pool) {
  auto view = state_of(node, demand, gpu_mismatch(node, pool.spec.gpus));
  if (view.state != NodeState::kFree) return view;
  const auto alone = without_foreign(node);
  if (worker_slots(alone, demand.gpus_per_worker, demand.needs) == 0)
    return {NodeState::kUnsuited, "has " + std::to_string(node.all_gpus()) + " GPUs"};
  if (node.leased) return {NodeState::kLeased, ""};
  if (worker_slots(node, demand.gpus_per_worker, demand.needs) == 0)
    return {NodeState::kForeign, "has no room beside pods of others"};
  return view;
}

NodeView state_of(const SharedNode& node, const SharedNode& drained, const Demand& demand,
                  const SliceNeed& need) {
  auto view = state_of(node.node, demand, node.unusable);
  if (view.state != NodeState::kFree) return view;
  if (!claim_on(node, need)) return {NodeState::kUnsuited, "has no GPU that is large enough"};
  if (!node.marked) return {NodeState::kTainted, "is not marked for the pool yet"};
  if (room_on(node, need) > 0) return view;
  if (node.held > drained.held || node.node.leased) return {NodeState::kLeased, ""};
  return {NodeState::kForeign,
          node.notes.empty() ? "has no room beside pods of others" : "has unhealthy or held GPUs"};
}

class Painter {
 public:
  explicit Painter(const QueueSnapshot& queue) { picture_.name = queue.pool->metadata.name; }

  void count(const PoolNode& node, const NodeView& view) {
    ++picture_.nodes;
    ++*counter(view.state);
    const bool other =
        view.state != NodeState::kFree && view.state != NodeState::kLeased && view.state != NodeState::kSpare;
    if (!other || picture_.why.size() == kMostExamples || !shown_.insert(view.state).second) return;
    picture_.why.push_back(node.name + " " + view.why);
  }

  void count_units(base::Boxed<api::ExplainedUnits>& units, std::int64_t total, std::int64_t free) {
    if (!units) units.emplace();
    units->total += total;
    units->free += std::max<std::int64_t>(0, free);
  }

  api::ExplainedPool& picture() { return picture_; }

 private:
  std::int64_t* counter(NodeState state) {
    switch (state) {
      case NodeState::kUnsuited:
        return &picture_.unsuited;
      case NodeState::kNotReady:
        return &picture_.not_ready;
      case NodeState::kCordoned:
        return &picture_.cordoned;
      case NodeState::kTainted:
        return &picture_.tainted;
      case NodeState::kLeased:
        return &picture_.leased;
      case NodeState::kForeign:
        return &picture_.foreign;
      case NodeState::kSpare:
        return &picture_.spare;
      case NodeState::kFree:
        break;
    }
    return &picture_.free;
  }

  api::ExplainedPool picture_;
  std::set<NodeState> shown_;
};

bool is_open(NodeState state) {
  return state == NodeState::kLeased || state == NodeState::kForeign || state == NodeState::kSpare ||
         state == NodeState::kFree;
}

}  // namespace

api::ExplainedPool picture_of(const QueueSnapshot& queue) {
  Painter painter(queue);
  const auto& demand = queue.entry().demand();
  const auto& spec = queue.pool->spec;
  auto need = spec.sharing ? need_of(queue.entry().job()->spec, spec.rents_gpus()) : SliceNeed();
  need.requests = demand.needs.requests;
  auto& picture = painter.picture();
  const auto spare = spares_now(queue.nodes, *queue.pool);
  for (std::size_t i = 0; i < queue.nodes.size(); ++i) {
    const auto& node = queue.nodes[i];
    auto view = state_of(node, demand, *queue.pool);
    if (view.state == NodeState::kFree && spare[i]) view.state = NodeState::kSpare;
    painter.count(node, view);
    const bool free = !node.leased && !spare[i];
    if (is_open(view.state)) painter.count_units(picture.gpus, node.gpus, free ? node.gpus : 0);
  }
  for (const auto& node : queue.shared) {
    const auto view = state_of(node, emptied(node, false), demand, need);
    painter.count(node.node, view);
    if (!is_open(view.state)) continue;
    std::int64_t total = 0;
    for (const auto& gpu : node.gpus) total += gpu.healthy_slices;
    painter.count_units(spec.rents_gpus() ? picture.gpus : picture.slices, total, total - node.held);
  }
  return std::move(picture);
}

api::ExplainedQueue queue_before(const QueueSnapshot& queue) {
  api::ExplainedQueue before;
  before.jobs = static_cast<std::int64_t>(queue.ahead);
  const auto& asker = queue.entry();
  for (const auto& job : queue.line.in_order()) {
    if (job->metadata.key() == queue.asker) continue;
    if (job->spec.priority > asker.job()->spec.priority) ++before.higher_priority;
    if (!job->spec.slice) {
      before.gpus += job->spec.gpus;
    } else if (job->spec.slice->count) {
      before.slices += api::worker_count(job->spec) * *job->spec.slice->count;
    }
    if (job->metadata.ns == queue.asker.ns && before.yours.size() < kMostNames)
      before.yours.push_back(job->metadata.name);
  }
  return before;
}

}  // namespace gpupool::planning
