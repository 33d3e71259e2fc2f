// SPDX-License-Identifier: Apache-2.0
// How an attempt ends early: charged to the job, or forgiven.
#pragma once

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"
#include "planning/job/observation.h"
#include "planning/job/step.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::planning {

// The program failed: counts a failure, and starts the next attempt or ends the job (spec.backoffLimit).
Step fail_attempt(const Observation& seen, api::GpuJobStatus status, const WorkerView& crash);
// The same, for a failure that is no crash. A job that ends by it has the reason BackoffLimitExceeded, except
// for SliceExceeded, which stays.
Step fail_attempt(const Observation& seen, api::GpuJobStatus status, const api::Problem& why);
// A worker was lost: starts the next attempt and charges nothing, but losses that nothing explains count as
// failures after the third.
Step lose_attempt(const Observation& seen, const WorkerView& lost);

}  // namespace gpupool::planning
