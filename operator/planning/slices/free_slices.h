// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "planning/slices/shared_node.h"

namespace gpupool::planning {

// Returns the slices that one worker takes on this node; nothing if even the empty node has no room for it.
// If the GPUs are cut differently, the worker must fit on each GPU that the kubelet may choose.
std::optional<Claim> claim_on(const SharedNode& node, const SliceNeed& need);

// Returns how many more workers with this claim fit for certain, whichever GPUs the kubelet chooses for them
// and for the claims that exist, and in whatever order it starts them.
//
// On any GPU, a claim of s slices takes at most ceil(s / n) of the places for n slices. A claim is safe if
// there are more places of its size than all other claims can take.
std::int64_t room_for(const SharedNode& node, const Claim& claim);

// Returns the node without pods and claims; with_unhealthy: and with all GPUs healthy.
SharedNode emptied(const SharedNode& node, bool with_unhealthy);

}  // namespace gpupool::planning
