#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/gpu.h"
#include "settings/settings.h"
#include "slices/offer.h"

namespace gpupool::slices {

inline constexpr const char* kSliceResource = "gpupool.dev/vgpu";
inline constexpr const char* kWholeResource = "nvidia.com/gpu";
inline constexpr const char* kMigResourcePrefix = "nvidia.com/mig-";
// The kubelet's limit for the ID of a device.
inline constexpr std::size_t kMaxIdLength = 63;

// What the settings make of a GPU, all of it healthy and as if nothing had been there before. In order of
// resource name. Adds to `notes` what its owner should know.
base::Result<std::vector<Offer>> wanted_offers(const inventory::Gpu& gpu, const settings::Settings& settings,
                                               const std::string& node, std::vector<std::string>& notes);

SlicedGpu physical(const inventory::Gpu& gpu);

}  // namespace gpupool::slices
