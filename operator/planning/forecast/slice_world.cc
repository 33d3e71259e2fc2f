// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/slice_world.h"

#include <algorithm>

#include "planning/queue/slice_plan.h"
#include "planning/slices/free_slices.h"

namespace gpupool::planning {
namespace {

std::int64_t gpus_for(const SharedNode& node, std::int64_t slices) {
  std::int64_t largest = 1;
  for (const auto& gpu : node.gpus) largest = std::max(largest, gpu.size.count);
  return std::max<std::int64_t>(1, (slices + largest - 1) / largest);
}

// Takes the slices of one worker; as a claim if no GPU has them for certain.
void settle(SharedNode& node, std::int64_t slices) {
  const auto gpus = gpus_for(node, slices);
  const auto part = (slices + gpus - 1) / gpus;
  std::vector<SharedGpu*> chosen;
  for (auto& gpu : node.gpus) {
    if (gpu.healthy && gpu.free >= part) chosen.push_back(&gpu);
  }
  if (static_cast<std::int64_t>(chosen.size()) < gpus) return add_claim(node, slices);
  std::ranges::stable_sort(chosen, {}, [](const SharedGpu* gpu) { return gpu->free; });
  for (std::int64_t i = 0; i < gpus; ++i) chosen[static_cast<std::size_t>(i)]->free -= part;
  node.held += slices;
}

void unsettle(SharedNode& node, std::int64_t slices) {
  node.held = std::max<std::int64_t>(0, node.held - slices);
  const auto claim = std::ranges::find(node.claims, slices, &Claim::slices);
  if (claim != node.claims.end()) {
    node.claims.erase(claim);
    return;
  }
  const auto gpus = gpus_for(node, slices);
  const auto part = (slices + gpus - 1) / gpus;
  std::vector<SharedGpu*> possible;
  for (auto& gpu : node.gpus) {
    if (gpu.free + part <= gpu.healthy_slices) possible.push_back(&gpu);
  }
  std::ranges::stable_sort(possible, {}, [](const SharedGpu* gpu) { return gpu->free; });
  for (std::size_t i = 0; i < possible.size() && static_cast<std::int64_t>(i) < gpus; ++i)
    possible[i]->free += part;
}

}  // namespace

std::vector<SharedNode> drained_nodes(const QueueSnapshot& queue) {
  std::unordered_map<std::string, std::int64_t> held_by_jobs;
  for (const auto& holder : queue.holders) {
    for (const auto& ref : holder.nodes) held_by_jobs[ref.name] += ref.workers * holder.slices;
  }
  std::vector<SharedNode> drained;
  drained.reserve(queue.shared.size());
  for (const auto& node : queue.shared) {
    auto& empty = drained.emplace_back(emptied(node, false));
    const auto others = node.held - held_by_jobs[node.node.name];
    for (std::int64_t i = 0; i < others; ++i) add_claim(empty, 1);
  }
  return drained;
}

SliceWorld::SliceWorld(const api::GpuPool& pool, std::vector<SharedNode> nodes,
                       const std::vector<Holder>& holders)
    : pool_(pool), nodes_(std::move(nodes)) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].node.name, i);
  for (const auto& holder : holders) {
    const auto& each = each_of(*holder.job);
    for (const auto& ref : holder.nodes) workers_[ref.name].emplace_back(&each, ref.workers);
  }
}

std::map<api::ObjectKey, Verdict> SliceWorld::plan(const WaitingLine& line) const {
  return plan_slices(pool_, nodes_, line);
}

std::map<api::ObjectKey, Verdict> SliceWorld::plan(const WaitingLine& line,
                                                   const SliceTurnInput& turns) const {
  return SlicePlan(pool_, nodes_, line, turns).verdicts();
}

const SharedNode* SliceWorld::node(const std::string& name) const {
  const auto known = index_.find(name);
  return known == index_.end() ? nullptr : &nodes_[known->second];
}

void SliceWorld::take(const api::GpuJob& job, const Verdict& given) {
  const auto& each = each_of(job);
  for (const auto& ref : given.nodes) {
    auto* const node = find(ref.name);
    if (node == nullptr) continue;
    for (std::int64_t i = 0; i < ref.workers; ++i) settle(*node, given.slices);
    workers_[ref.name].emplace_back(&each, ref.workers);
    count_requests(*node);
  }
}

void SliceWorld::give_back(const api::GpuJob& job, const Verdict& given) {
  const auto& each = each_of(job);
  for (const auto& ref : given.nodes) {
    auto* const node = find(ref.name);
    if (node == nullptr) continue;
    for (std::int64_t i = 0; i < ref.workers; ++i) unsettle(*node, given.slices);
    auto& workers = workers_[ref.name];
    const auto mine = std::ranges::find(workers, std::pair(&each, ref.workers));
    if (mine != workers.end()) workers.erase(mine);
    count_requests(*node);
  }
}

SharedNode* SliceWorld::find(const std::string& name) {
  const auto known = index_.find(name);
  return known == index_.end() ? nullptr : &nodes_[known->second];
}

const Resources& SliceWorld::each_of(const api::GpuJob& job) {
  const auto [known, unknown] =
      each_.try_emplace(job.spec.pod_template.text + (job.spec.results ? "with results" : ""));
  if (unknown) known->second = taken_by_worker(needs_of(job.spec, pool_.spec.worker_resource()).requests);
  return known->second;
}

void SliceWorld::count_requests(SharedNode& node) {
  node.requested = {};
  for (const auto& [each, number] : workers_[node.node.name]) {
    for (std::int64_t i = 0; i < number; ++i) node.requested += *each;
  }
}

}  // namespace gpupool::planning
