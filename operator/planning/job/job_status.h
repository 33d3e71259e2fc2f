// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"

namespace gpupool::planning {

// Makes conditions, reason and message consistent with phase and lease. Every status that is written passes
// through this function. The conditions are those of kstatus (Reconciling, Stalled) and of batch/v1
// (Complete, Failed, Suspended), plus Leased and Running. Reconciling is true while the job is queued,
// starts, restarts or gives nodes back; false while its workers run. Complete and Failed become true when the
// last node has been given back. A waiting job is in phase Queued or Invalid, by the reason of the stall.
void settle_status(api::GpuJobStatus& status, std::int64_t generation,
                   const std::optional<api::Problem>& stalled, base::WallTime now);

// True for reasons with which a job that holds no nodes cannot run as it is written, so that somebody has to
// change it, or what it names. Its phase is Invalid then, not Queued. Other stalls pass by themselves.
bool needs_correction(const std::string& reason);

// False for a lease without nodes, which exists only because of its lost nodes.
bool holds_nodes(const api::GpuJobStatus& status);

// True if other jobs have to make room before the job has the nodes of its lease.
bool awaits_others(const api::GpuJobStatus& status);

// Sets status.queue.
void set_turn(api::GpuJobStatus& status, const base::Boxed<api::JobQueueStatus>& turn);

// True if the job takes nodes when it gets some. REQUIRES: its spec is valid.
bool wants_nodes(const api::GpuJob& job);

// Returns what the workers of the job get together, for the column GPUS: "8" for whole GPUs, "6 slices" by
// count; by size, with the number of workers: "4x8Gi", "4x30%", "4x8Gi/30%". Any spec, also an invalid one.
std::string requested_gpus(const api::GpuJobSpec& spec);

// Returns "a,b,c", or "a,b,+98" if the list has over 100 characters.
std::string summarize_nodes(const std::vector<api::NodeRef>& nodes);

}  // namespace gpupool::planning
