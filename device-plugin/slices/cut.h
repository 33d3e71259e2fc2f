// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "inventory/gpu.h"
#include "settings/settings.h"

namespace gpupool::slices {

// What one GPU is cut into. Memory is in MiB, cores are in percent of the GPU's cores.
struct Cut {
  std::int64_t count = 1;
  std::int64_t memory_mib = 0;       // of each slice: floor(M x memoryScaling / K)
  std::int64_t cores = 0;            // of each slice: floor(100 x coreScaling / K)
  std::int64_t memory_left_mib = 0;  // what the floors leave over
  std::int64_t cores_left = 0;
  bool overcommits = false;
  bool operator==(const Cut&) const = default;
};

// Cuts a GPU with so much memory. kInvalidArgument if a slice would have nothing; the message names the
// settings. Pure.
base::Result<Cut> cut(std::int64_t memory_mib, const settings::Split& split);
// The split of one GPU of this node after all overrides. An override for a model may have spaces for "-".
// Pure.
settings::Split split_of(const settings::Settings& settings, const std::string& node,
                         const inventory::Gpu& gpu);
// How the limits of this GPU's slices are enforced, after all overrides. Pure.
settings::Enforcement enforcement_of(const settings::Settings& settings, const std::string& node,
                                     const inventory::Gpu& gpu);
// "<GPU UUID>::<ordinal>"; of a whole GPU or a MIG instance its UUID.
std::string slice_id(const std::string& uuid, std::int64_t ordinal);

}  // namespace gpupool::slices
