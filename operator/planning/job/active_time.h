// SPDX-License-Identifier: Apache-2.0
// The clock of spec.activeDeadlineSeconds: it runs only while the job holds nodes. Pure.
#pragma once

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"

namespace gpupool::planning {

// Seconds for which earlier leases were held, since the job was last suspended.
std::int64_t active_seconds(const api::GpuJobStatus& status);
// Sets startTime as if earlier leases had been held until now. Does nothing if the clock runs.
void start_clock(api::GpuJobStatus& status, base::WallTime now);
// Call when the nodes are given back and the job goes on later: keeps the time in activeSeconds.
void stop_clock(api::GpuJobStatus& status, base::WallTime now);
// The same for a job that is suspended: the deadline starts again, as in batch/v1.
void reset_clock(api::GpuJobStatus& status);

}  // namespace gpupool::planning
