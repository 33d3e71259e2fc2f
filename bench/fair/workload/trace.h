// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/fair/workload/job.h"

namespace gpupool::bench::fair {

struct TraceOptions {
  std::vector<std::string> files;
  std::string throughputs;        // file; needed by .trace files
  std::string device = "v100";    // whose throughputs
  Seconds days = 30;              // later arrivals are left out
  Seconds longest = 4 * 86400;    // longer run times are cut
  std::int64_t fewest_jobs = 10;  // tenants with fewer are left out
};

// Reads traces of two kinds: `.trace` files of stanford-futuredata/gavel (one a tenant, named as the file),
// and
// `.csv` files with the columns tenant,arrival,gpus,seconds. Error: a file that cannot be read, or a line
// that is not as it has to be, with file and line.
base::Result<Workload> read_traces(const TraceOptions& options, std::int64_t gpus);

}  // namespace gpupool::bench::fair
