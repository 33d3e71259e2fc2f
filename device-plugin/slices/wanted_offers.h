// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/gpu.h"
#include "settings/settings.h"
#include "slices/offer.h"
#include "slices/resource_names.h"

namespace gpupool::slices {

// The kubelet's limit for the ID of a device.
inline constexpr std::size_t kMaxIdLength = 63;

// Cuts one GPU as the settings say: all slices healthy, without regard to earlier tables. Sorted by resource
// name. Adds to `notes` what the owner of the machine should know. Pure.
base::Result<std::vector<Offer>> wanted_offers(const inventory::Gpu& gpu, const settings::Settings& settings,
                                               const ResourceNames& names, const std::string& node,
                                               std::vector<std::string>& notes);

SlicedGpu physical(const inventory::Gpu& gpu);

}  // namespace gpupool::slices
