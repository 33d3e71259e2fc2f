// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::jobs {

// The exit code with which a command that waited for this job ends: 0 for success; else the code of the rank
// that failed first (128 + N for signal N), exit_code::kDeadline for a job past its own deadline,
// exit_code::kNotTheCommand if it failed for a reason that is not its command's. REQUIRES: job.finished().
int outcome_code(const api::GpuJob& job);

}  // namespace gpupool::jobs
