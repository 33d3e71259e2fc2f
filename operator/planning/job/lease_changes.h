// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/job/observation.h"
#include "planning/job/step.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::planning {

// A single-node lease goes from Taking to Running at once. Held is written only if the workers cannot be
// created immediately.
bool skips_held(const api::Lease& lease);

// Returns the status write that begins Releasing. `why` becomes reason and message.
Step release(const Observation& seen, const std::string& outcome, const api::Problem& why, bool warning);
// The same, on top of a status that was not written.
Step release(const Observation& seen, api::GpuJobStatus status, const std::string& outcome,
             const api::Problem& why, bool warning);
// Why a job has succeeded, with the last lines of rank 0 (api::kLastLines). REQUIRES: views are of all ranks.
api::Problem all_succeeded(const std::vector<WorkerView>& views);
// Returns the status write that sets this state and phase.
Step advance(const Observation& seen, api::GpuJobStatus status, const std::string& state,
             const std::string& phase, const api::Problem& why, std::optional<Note> note);
// Sets what people see of the nodes of the lease.
void show_nodes(const api::GpuJob& job, api::GpuJobStatus& status);
// Returns the status write that begins to hold the nodes of the lease: slices are reserved by it, whole nodes
// are taken next. REQUIRES: status.lease has the nodes.
Step begin_hold(const Observation& seen, api::GpuJobStatus status);
// Ends a lease without workers if the job is suspended, its spec has changed or is invalid, or its pool is
// gone. enforce_deadline ends any lease whose deadline has passed.
std::optional<Step> interrupt_before_workers(const Observation& seen);
std::optional<Step> enforce_deadline(const Observation& seen);
// Returns the time until `begin` + `seconds`; zero if it has passed; nothing if one of them is absent.
std::optional<base::Duration> time_left(const Observation& seen, const std::optional<base::WallTime>& begin,
                                        const std::optional<std::int64_t>& seconds);

}  // namespace gpupool::planning
