// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "screen/terminal.h"

namespace gpupool::jobs {

// What `describe` tells of spec.source and of spec.results; empty if the job has none. Pure.
std::string source_text(const api::GpuJob& job, const screen::Terminal& terminal);
std::string results_text(const api::GpuJob& job, const screen::Terminal& terminal);

}  // namespace gpupool::jobs
