// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/fake-nvml/world.h"

namespace gpupool::fake_nvml {

struct MigSize {
  unsigned int gpu_slices = 0;  // 0: the text is no profile
  unsigned int compute_slices = 0;
  std::uint64_t gib = 0;
  std::string attributes;  // "+me"
};

// "1c.3g.20gb", "1g.10gb+me".
MigSize size_of_profile(const std::string& profile);

// NVML_GPU_INSTANCE_PROFILE_* and NVML_COMPUTE_INSTANCE_PROFILE_*; this library uses the same numbers as
// profile IDs.
unsigned int gpu_profile_index(const MigInstance& instance, const Gpu& gpu);
unsigned int compute_profile_index(const MigInstance& instance);
// Slices of such a profile; nothing for an index that has none.
std::optional<unsigned int> gpu_profile_slices(unsigned int index);
std::optional<unsigned int> compute_profile_slices(unsigned int index);

}  // namespace gpupool::fake_nvml
