// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/fair/engine/cluster.h"

namespace gpupool::bench::fair {

// What is kept for one waiting job.
struct Reservation {
  Seconds start = kNever;  // when it has enough GPUs, if each lease lasts as long as its bound allows
  std::int64_t spare = 0;  // GPUs that are free now and that it does not need then

  // Whether a job of this size and bound may start before it, on GPUs that are free now. If the start is not
  // known, because too many leases have no bound, all that is free is kept. margin: seconds by which the job
  // has to end before the start.
  bool lets(const Cluster& cluster, std::int64_t gpus, Seconds bound, Seconds margin) const {
    if (gpus <= spare) return true;
    return start != kNever && bound != kNever && cluster.now() + bound + margin <= start;
  }
};

// REQUIRES: the cluster has that many GPUs.
Reservation reserve(const Cluster& cluster, std::int64_t gpus);

}  // namespace gpupool::bench::fair
