// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "planning/nodes/near_groups.h"
#include "planning/slices/free_slices.h"

namespace gpupool::planning {

// The nodes and slices of one job.
struct SlicePlacement {
  std::int64_t slices = 0;          // slices of each worker
  std::vector<api::NodeRef> nodes;  // with their number of workers, in order of name
};

// Chooses nodes for all workers: in the fewest groups of `near`, then the fewest nodes, then the fullest
// ones, then the first names. Nothing if there is not enough room. All workers get the same number of slices;
// with one_model, on GPUs of one model.
//
// The default scheduler decides which worker runs on which of the nodes. It only ensures that they differ by
// at most one worker, so each node reserves ceil(workers / nodes).
std::optional<SlicePlacement> choose_slices(const std::vector<const SharedNode*>& candidates,
                                            const SliceNeed& need, std::int64_t workers, bool one_model,
                                            const api::Near& near = {});

// The same on exactly these nodes.
std::optional<SlicePlacement> place_slices(const std::vector<const SharedNode*>& nodes, const SliceNeed& need,
                                           std::int64_t workers, bool one_model);

// Number of workers with this need that the node has room for.
std::int64_t room_on(const SharedNode& node, const SliceNeed& need);

}  // namespace gpupool::planning
