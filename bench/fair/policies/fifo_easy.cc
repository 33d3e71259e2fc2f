// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/fifo_easy.h"

#include <optional>

#include "bench/fair/policies/backfill.h"

namespace gpupool::bench::fair {

void FifoEasy::decide(Actions& actions) {
  const auto& cluster = actions.cluster();
  const auto waiting = cluster.waiting();
  std::optional<Reservation> kept;
  for (const auto id : waiting) {
    if (cluster.free() == 0) break;
    const auto gpus = cluster.job(id).gpus;
    const bool fits = gpus <= cluster.free();
    if (!fits && !kept) {
      kept = reserve(cluster, gpus);
      actions.promise(id, kept->start);
      continue;
    }
    if (!fits || (kept && !kept->lets(cluster, gpus, cluster.bound_left(id), 0))) continue;
    actions.start(id);
    if (kept) kept = reserve(cluster, cluster.job(*cluster.waiting().begin()).gpus);
  }
}

}  // namespace gpupool::bench::fair
