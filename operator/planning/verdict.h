#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {

// Which nodes a queued job gets now, or why it gets none.
struct Verdict {
  std::vector<api::NodeRef> nodes;
  std::string reason;
  std::string message;      // does not change with every event, or a long queue would be rewritten at each
  std::int64_t slices = 0;  // of each worker; 0: the nodes as a whole
  bool operator==(const Verdict&) const = default;
};

// Of a job that could run if others gave back. what: what it waits for. behind: a job before it waits for
// some of the same nodes, free or not.
inline Verdict wait_in_line(const std::string& pool, const std::string& what, bool behind) {
  return {{},
          api::reason::kWaitingForNodes,
          "waiting in pool " + pool + " for " + what +
              (behind ? "; jobs before it in the queue come first" : "")};
}

}  // namespace gpupool::planning
