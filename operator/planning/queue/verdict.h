// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {

// Other jobs have to make room for a job that gets nodes.
struct YieldClaim {
  std::vector<std::string> awaits;  // their UIDs
  base::WallTime until;             // by then they have given back the nodes, or something is wrong
  bool operator==(const YieldClaim&) const = default;
};

// The answer to a queued job: the nodes that it gets now, or why it gets none.
struct Verdict {
  std::vector<api::NodeRef> nodes;
  std::string reason;
  std::string message;      // stable, because each change is a status write of every waiting job
  std::int64_t slices = 0;  // of each worker, in `unit`; 0: whole nodes
  base::Word unit = {};     // Lease::unit
  base::Boxed<api::JobQueueStatus> turn = {};  // only in a pool with spec.queue
  base::Boxed<YieldClaim> claim = {};  // set: other jobs hold some of `nodes`; reason and message tell it
  bool waits = false;                  // of slices: the job could run if other jobs gave back theirs
  bool operator==(const Verdict&) const = default;
};

// The answer to a job that could run if other jobs gave back nodes. what: what it waits for. behind: an
// earlier job waits for some of the same nodes.
inline Verdict wait_in_line(const std::string& pool, const std::string& what, bool behind) {
  return {{},
          api::reason::kWaitingForNodes,
          "waiting in pool " + pool + " for " + what +
              (behind ? "; jobs before it in the queue come first" : "")};
}

}  // namespace gpupool::planning
