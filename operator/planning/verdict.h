#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// Which nodes a queued job gets now, or why it gets none.
struct Verdict {
  std::vector<api::NodeRef> nodes;
  std::string reason;
  std::string message;      // does not change with every event, or a long queue would be rewritten at each
  std::int64_t slices = 0;  // of each worker; 0: the nodes as a whole
  bool operator==(const Verdict&) const = default;
};

}  // namespace gpupool::planning
