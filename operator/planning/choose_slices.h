#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "planning/free_slices.h"

namespace gpupool::planning {

// Where the workers of one job go.
struct SlicePlacement {
  std::int64_t slices = 0;          // of each worker
  std::vector<api::NodeRef> nodes;  // with their workers, in order of name
};

// Places for all workers, or nothing. The fewest nodes, of these the fullest, then the first names. All
// workers get the same number of slices, and with one_model GPUs of one model.
//
// Over several nodes the default scheduler decides which worker goes where; all that it is held to is that
// the nodes differ by one worker at most. So each node reserves ceil(workers / nodes).
std::optional<SlicePlacement> choose_slices(const std::vector<const SharedNode*>& candidates,
                                            const SliceNeed& need, std::int64_t workers, bool one_model);

// The same on exactly these nodes.
std::optional<SlicePlacement> place_slices(const std::vector<const SharedNode*>& nodes, const SliceNeed& need,
                                           std::int64_t workers, bool one_model);

}  // namespace gpupool::planning
