// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/v1alpha1/explanation.h"
#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

// Returns the nodes of the pool by state, as the asker may use them. Names nodes, but no job and no pod.
// Pure. REQUIRES: !queue.granted.
api::ExplainedPool picture_of(const QueueSnapshot& queue);

// Returns who is before the asker. Names only jobs of the asker's namespace. Pure. REQUIRES: !queue.granted.
api::ExplainedQueue queue_before(const QueueSnapshot& queue);

}  // namespace gpupool::planning
