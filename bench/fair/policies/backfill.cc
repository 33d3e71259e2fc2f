// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/backfill.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpupool::bench::fair {

Reservation reserve(const Cluster& cluster, std::int64_t gpus) {
  std::vector<std::pair<Seconds, std::int64_t>> ends;
  ends.reserve(cluster.running().size());
  for (const auto id : cluster.running()) ends.emplace_back(cluster.until(id), cluster.job(id).gpus);
  std::ranges::sort(ends);
  auto free = cluster.free();
  auto start = cluster.now();
  for (auto next = ends.begin(); free < gpus; ++next) {
    start = next->first;
    if (start == kNever) return {};
    free += next->second;
  }
  return {start, std::min(cluster.free(), free - gpus)};
}

}  // namespace gpupool::bench::fair
