// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/mig_profiles.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace gpupool::fake_nvml {

namespace {

struct GpuProfile {
  unsigned int index;
  unsigned int slices;
  const char* attributes;
};

// NVML_GPU_INSTANCE_PROFILE_*, without 1_SLICE_REV2, which is the one slice with twice the memory.
constexpr std::array kGpuProfiles{
    GpuProfile{0x0, 1, ""},         GpuProfile{0x1, 2, ""},     GpuProfile{0x2, 3, ""},
    GpuProfile{0x3, 4, ""},         GpuProfile{0x4, 7, ""},     GpuProfile{0x5, 8, ""},
    GpuProfile{0x6, 6, ""},         GpuProfile{0x7, 1, "+me"},  GpuProfile{0x8, 2, "+me"},
    GpuProfile{0xA, 1, "+gfx"},     GpuProfile{0xB, 2, "+gfx"}, GpuProfile{0xC, 4, "+gfx"},
    GpuProfile{0xD, 1, "-me"},      GpuProfile{0xE, 2, "-me"},  GpuProfile{0xF, 1, "+me.all"},
    GpuProfile{0x10, 2, "+me.all"},
};
constexpr unsigned int kOneSliceTwiceMemory = 0x9;

constexpr std::array<std::pair<unsigned int, unsigned int>, 7> kComputeProfiles{
    {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 7}, {5, 8}, {6, 6}}};

}  // namespace

MigSize size_of_profile(const std::string& profile) {
  MigSize size;
  unsigned int compute = 0;
  unsigned int slices = 0;
  unsigned int gib = 0;
  int used = 0;
  // NOLINTBEGIN(cert-err34-c): what does not match in full is refused below
  if (std::sscanf(profile.c_str(), "%uc.%ug.%ugb%n", &compute, &slices, &gib, &used) != 3 || used == 0) {
    used = 0;
    if (std::sscanf(profile.c_str(), "%ug.%ugb%n", &slices, &gib, &used) != 2 || used == 0) return size;
    compute = slices;
  }
  // NOLINTEND(cert-err34-c)
  size.attributes = profile.substr(static_cast<std::size_t>(used));
  size.gpu_slices = slices;
  size.compute_slices = compute;
  size.gib = gib;
  return size;
}

unsigned int gpu_profile_index(const MigInstance& instance, const Gpu& gpu) {
  const MigSize size = size_of_profile(instance.profile);
  if (size.gpu_slices == 1 && size.attributes.empty() && instance.memory_mib * 8 > gpu.memory_mib * 3 / 2) {
    return kOneSliceTwiceMemory;
  }
  for (const GpuProfile& known : kGpuProfiles) {
    if (known.slices == size.gpu_slices && size.attributes == known.attributes) return known.index;
  }
  return 0;
}

unsigned int compute_profile_index(const MigInstance& instance) {
  for (const auto& [index, slices] : kComputeProfiles) {
    if (slices == instance.compute_slices) return index;
  }
  return 0;
}

std::optional<unsigned int> gpu_profile_slices(unsigned int index) {
  if (index == kOneSliceTwiceMemory) return 1;
  const auto* const at = std::ranges::find(kGpuProfiles, index, &GpuProfile::index);
  if (at == kGpuProfiles.end()) return std::nullopt;
  return at->slices;
}

std::optional<unsigned int> compute_profile_slices(unsigned int index) {
  for (const auto& [known, slices] : kComputeProfiles) {
    if (known == index) return slices;
  }
  return std::nullopt;
}

}  // namespace gpupool::fake_nvml
