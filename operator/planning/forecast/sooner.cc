// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/sooner.h"

#include <memory>
#include <optional>
#include <utility>

#include "planning/queue/queue_plan.h"
#include "planning/queue/slice_plan.h"

namespace gpupool::planning {
namespace {

constexpr std::size_t kMostPools = 2;

// Whether this job would get nodes now at the asker's place.
bool starts_now(const QueueSnapshot& queue, const api::GpuJobSpec& spec) {
  auto job = *queue.entry().job();
  job.spec = spec;
  ++job.metadata.generation;  // so that the line reads it anew
  const auto& position = queue.entry().position();
  auto line = queue.line.copy_before(position);
  line.put(std::make_shared<const api::GpuJob>(std::move(job)), position.arrival);
  const auto key = queue.asker;
  if (queue.pool->spec.sharing) return !plan_slices(*queue.pool, queue.shared, line).at(key).nodes.empty();
  std::vector<const PoolNode*> nodes;
  nodes.reserve(queue.nodes.size());
  for (const auto& node : queue.nodes) nodes.push_back(&node);
  return QueuePlan(queue.pool, nodes, line).granted().contains(key);
}

std::string gpus_text(std::int64_t gpus) {
  return "with " + std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
}

struct Smaller {
  api::GpuJobSpec spec;
  std::string text;
};

// The same job with half of what it asks for: fewer workers first, then less for the one worker.
std::optional<Smaller> halved(api::GpuJobSpec spec) {
  const auto workers = api::worker_count(spec);
  if (workers > 1) {
    spec.gpus = workers / 2 * api::gpus_of_each_worker(spec);
    auto text = gpus_text(spec.gpus);
    if (spec.slice)
      text = "with " + std::to_string(workers / 2) + (workers / 2 == 1 ? " worker" : " workers");
    return Smaller{std::move(spec), std::move(text)};
  }
  if (spec.slice) {
    if (spec.slice->count.value_or(0) < 2) return std::nullopt;
    const auto count = *spec.slice->count / 2;
    spec.slice->count = count;
    return Smaller{std::move(spec), "with " + std::to_string(count) + (count == 1 ? " slice" : " slices")};
  }
  if (spec.gpus < 2) return std::nullopt;
  spec.gpus /= 2;
  spec.gpus_per_worker = spec.gpus;
  auto text = gpus_text(spec.gpus);
  return Smaller{std::move(spec), std::move(text)};
}

}  // namespace

std::vector<std::string> what_starts_now(const QueueSnapshot& queue, const std::vector<QueueSnapshot>& others,
                                         Budget& budget) {
  std::vector<std::string> found;
  const auto& spec = queue.entry().job()->spec;
  if (spec.nodes.empty()) {  // a smaller job needs fewer of these, and which ones is not known
    for (auto smaller = halved(spec); smaller && budget.spend(); smaller = halved(smaller->spec)) {
      if (!starts_now(queue, smaller->spec)) continue;
      found.push_back(smaller->text);
      break;
    }
  }
  if (queue.entry().demand().near.required && budget.spend()) {
    auto anywhere = spec;
    anywhere.near = queue.entry().demand().near;
    anywhere.near->required = false;
    if (starts_now(queue, anywhere)) found.emplace_back("without spec.near.required");
  }
  std::size_t pools = 0;
  for (const auto& other : others) {
    if (pools == kMostPools || !budget.spend()) break;
    if (other.closed || other.granted || other.too_many()) continue;
    if (!starts_now(other, other.entry().job()->spec)) continue;
    found.push_back("in pool " + other.pool->metadata.name);
    ++pools;
  }
  return found;
}

}  // namespace gpupool::planning
