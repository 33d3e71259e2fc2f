// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"
#include "screen/terminal.h"

namespace gpupool::jobs {

// What `describe` tells of the last checkpoint that the program has reported, and of attempts that have
// ended; empty if there is nothing to tell. Pure.
std::string checkpoint_text(const api::GpuJob& job, base::WallTime now);
std::string history_text(const api::GpuJob& job, base::WallTime now, const screen::Terminal& terminal);

}  // namespace gpupool::jobs
