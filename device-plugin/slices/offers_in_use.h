// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "inventory/gpu.h"
#include "slices/offer.h"

namespace gpupool::slices {

// The slices that containers hold of a GPU whose earlier cut is unknown (the state file was lost). Empty if
// all of them exist in `wanted` too. Otherwise only the slices in use are returned, and no others of this GPU
// may be given out: the sizes of those in use are unknown, so the sizes of `wanted` stand in for them.
std::vector<Offer> offers_in_use(const inventory::Gpu& gpu, const std::vector<Offer>& wanted,
                                 const std::set<std::string>& in_use);

}  // namespace gpupool::slices
