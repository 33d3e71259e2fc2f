#include "planning/queue_order.h"

#include <algorithm>
#include <utility>

namespace gpupool::planning {

std::vector<const api::GpuJob*> in_order(const std::vector<std::shared_ptr<const api::GpuJob>>& queue) {
  std::vector<const api::GpuJob*> order;
  order.reserve(queue.size());
  for (const auto& job : queue) order.push_back(job.get());
  const auto rank = [](const api::GpuJob& job) {
    return std::make_pair(-job.spec.priority,
                          job.metadata.creation_timestamp.value_or(base::WallTime::max()));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  return order;
}

}  // namespace gpupool::planning
