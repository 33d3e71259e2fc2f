// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "bench/fair/workload/job.h"

namespace gpupool::bench::fair {

// Puts the jobs in order of arrival, and adds what no trace tells: 60 % declare a bound of 1 to 4 times their
// run time, 60 % are preemptible, and 70 % of those make a checkpoint each 10 to 50 minutes. 60 % of the GPUs
// are guaranteed to the tenants in equal parts. The same seed gives the same declarations. Error: a job is
// larger than the cluster, or there is none.
base::Result<Workload> declare(Workload workload, std::uint64_t seed);

}  // namespace gpupool::bench::fair
