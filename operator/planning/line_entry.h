#pragma once

#include <optional>

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"
#include "planning/job_validation.h"

// Which jobs have a place in the queue of their pool. Only a job that takes nodes as soon as it gets them:
// any other one would keep them from jobs that can use them.
namespace gpupool::planning {

// Reasons for which a job without nodes waits outside of the queue until a person acts or a retry succeeds.
bool keeps_out_of_line(const std::string& reason);

// Why the server would not have the workers of this job when it was tried last, while that still counts: the
// spec is as it was then. The job's own spec must be valid (validate_job).
std::optional<Problem> standing_stall(const api::GpuJob& job);

// True if the job, which must be valid, has a place in the line by itself. Depends on the object alone.
bool stands_in_line(const api::GpuJob& job);

// The job with the lease that it would get next, on no node that exists: for step::Rehearse.
api::GpuJob with_next_lease(const api::GpuJob& job, bool shared);

// True if the cause of the stall may go without a change of the job.
bool is_retried(const Problem& stall);

// Until a stalled job may be tried again; zero: now. The longer it is stalled, and the more leases of it came
// to nothing, the longer: from 5 s to 300 s between two tries.
base::Duration until_retry(const api::GpuJob& job, base::WallTime now);
// From a try that was in vain to the next one.
base::Duration retry_pause(const api::GpuJob& job, base::WallTime now);

// A kubelet did not admit a worker: the time until the job may be placed again; zero: now. 2 s, then doubling
// up to 300 s.
base::Duration until_placed_again(const api::GpuJob& job, base::WallTime now);

}  // namespace gpupool::planning
