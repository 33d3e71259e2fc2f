#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "planning/job_validation.h"

namespace gpupool::planning {

// Makes conditions, reason and message agree with phase and lease; every status that is written goes through
// here. Conditions are kstatus' (Reconciling, Stalled) and batch/v1's (Complete, Failed, Suspended) at once,
// plus Leased and Running. Reconciling is true while the job waits in the queue, starts, starts again or
// gives nodes back, not while its workers run. Complete and Failed become true when the last node has been
// given back, so that whoever waits for them finds nothing left over.
void settle_status(api::GpuJobStatus& status, std::int64_t generation, const std::optional<Problem>& stalled,
                   base::WallTime now);

// A lease that holds no node any more; only lost nodes keep it from being cleared.
bool holds_nodes(const api::GpuJobStatus& status);

// It would take nodes if there were some, provided that its spec is valid.
bool wants_nodes(const api::GpuJob& job);

// "a,b,c" up to 100 characters, then "a,b,+98".
std::string summarize_nodes(const std::vector<api::NodeRef>& nodes);

}  // namespace gpupool::planning
