#pragma once

#include <cstdint>
#include <optional>

#include "planning/shared_node.h"

namespace gpupool::planning {

// The slices that one worker takes on this node; nothing if the node cannot hold one even when it is empty.
// Where its GPUs are cut differently, any of them that the kubelet may choose must be enough.
std::optional<Claim> claim_on(const SharedNode& node, const SliceNeed& need);

// How many more workers with this claim fit for certain: wherever the kubelet has put or will put what is
// claimed, in whatever order it starts them, each of them and each claim finds GPUs with enough free slices.
//
// A claim of s slices takes at most ceil(s / n) of the places for n slices that GPUs have, whichever GPU it
// is on. So a claim is safe while there are more places of its size than all others can take.
std::int64_t room_for(const SharedNode& node, const Claim& claim);

// The node with nobody on it; with_sick: and with all its GPUs healthy.
SharedNode emptied(const SharedNode& node, bool with_sick);

}  // namespace gpupool::planning
