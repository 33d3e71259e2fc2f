// SPDX-License-Identifier: Apache-2.0
// status.history: how earlier attempts ended, for people. Pure.
#pragma once

#include <optional>
#include <string>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Adds an entry to a step that writes the end of an attempt after which the job goes on; leaves any other
// step as it is. The end of the job is no entry. Costs no write of its own.
//
// REQUIRES: `step` was planned for `seen`.
Step record_end(const Observation& seen, Step step);

// Returns the entry of the attempt; null if there is none.
api::AttemptEnd* end_of(api::GpuJobStatus& status, std::int64_t attempt);

// Drops the oldest entries beyond api::kMaxHistory and api::kMaxHistoryBytes.
void bound_history(std::vector<api::AttemptEnd>& history);

// Returns "node gpu-3 lost", or "attempt 1 failed", for the start of a line about the next attempt.
std::string cause_text(const api::AttemptEnd& end);
// Returns " from step 1200, 48 s of work repeated" for the next attempt; as much of it as is known.
std::string resumes_text(const api::AttemptEnd& end);

}  // namespace gpupool::planning
