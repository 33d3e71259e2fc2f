#pragma once

#include <set>
#include <string>
#include <vector>

#include "inventory/gpu.h"
#include "slices/offer.h"

namespace gpupool::slices {

// For a GPU that nobody remembers the cut of: the slices of it that containers hold, if one of them is none
// of the wanted ones. Their sizes are unknown (those of the wanted are put in), so nothing else of this GPU
// may be given out beside them. Empty if all fit what is wanted.
std::vector<Offer> offers_in_use(const inventory::Gpu& gpu, const std::vector<Offer>& wanted,
                                 const std::set<std::string>& in_use);

}  // namespace gpupool::slices
