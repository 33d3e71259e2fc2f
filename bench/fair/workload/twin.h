// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/fair/workload/job.h"

namespace gpupool::bench::fair {

// A synthetic twin of 30 days of the Philly trace: sizes, run times, demand of 11 tenants and burstiness are
// fitted to it, so that nothing has to be downloaded. load: what the jobs need, in percent of what the GPUs
// can do in these days; 90 in the trace. The same seed gives the same jobs. Bounds and checkpoints:
// declare.h.
Workload make_twin(std::int64_t gpus, std::int64_t days, std::int64_t load, std::uint64_t seed);

}  // namespace gpupool::bench::fair
