// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"
#include "base/clock.h"

// Which jobs are in the queue of their pool: only those that take nodes as soon as they get them. Any other
// job would keep nodes from jobs that can use them. Pure; called by plan_job and PoolQueue, so that both
// agree.
namespace gpupool::planning {

// True for reasons with which a job without nodes waits outside the queue, until a person acts or a retry
// succeeds.
bool keeps_out_of_line(const std::string& reason);

// Returns why the server refused the workers of this job at the last try, as long as the spec has not changed
// since. REQUIRES: the spec is valid (validate_job).
std::optional<api::Problem> standing_stall(const api::GpuJob& job);

// True if the job belongs in the queue. Depends on the object alone. REQUIRES: the job is valid.
bool stands_in_line(const api::GpuJob& job);

// Returns the job with the lease that it would get next, on a node that does not exist; for step::Rehearse.
// of_gpus: a shared lease has whole GPUs.
api::GpuJob with_next_lease(const api::GpuJob& job, bool shared, bool of_gpus);

// True if the cause of the stall may disappear without a change of the job.
bool is_retried(const api::Problem& stall);

// Time until a stalled job may be tried again; zero: now. Between two tries 5 s to 300 s, growing with the
// time since the stall and with the number of failed leases.
base::Duration until_retry(const api::GpuJob& job, base::WallTime now);
// Time between a failed try and the next one.
base::Duration retry_pause(const api::GpuJob& job, base::WallTime now);

// Backoff after a kubelet did not admit a worker: time until the job may be placed again; zero: now. 2 s,
// doubling up to 300 s.
base::Duration until_placed_again(const api::GpuJob& job, base::WallTime now);

}  // namespace gpupool::planning
