// SPDX-License-Identifier: Apache-2.0
// What the program of a worker reports of its last checkpoint (docs/checkpoints.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "api/v1alpha1/job_checkpoint.h"
#include "planning/workers/worker_result.h"

namespace gpupool::planning {

using CheckpointReport = api::ReportedCheckpoint;

// Why a report is not taken, for people: one line.
struct ReportProblem {
  std::string text;
};

// The greatest step: every JSON reader keeps whole numbers up to here (2^53).
inline constexpr std::int64_t kMaxReportedStep = 9'007'199'254'740'992;
inline constexpr std::size_t kMaxReportedPath = 256;  // bytes

// Reads the report in a worker's result. Data of a tenant's program: any text may be in it. std::monostate:
// there is no report. `path` may be empty. `at` is absent if the launcher did not say it. Pure.
std::variant<std::monostate, CheckpointReport, ReportProblem> checkpoint_report(const WorkerResult& result);

}  // namespace gpupool::planning
