// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpupool::nvidia {

// The profile in the name that NVML gives a MIG device ("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb" is
// "1c.3g.20gb"; also "1g.10gb+me"); empty if it names none. Pure.
std::string mig_profile_in_name(const std::string& device_name);

// The profile that a MIG device's size stands for, where its name does not tell: media extensions cannot be
// seen from it. Memory counts in eighths of the GPU's, as NVIDIA's tools round it; empty without slices.
// Pure.
std::string mig_profile_of_size(std::int64_t gpu_slices, std::int64_t compute_slices,
                                std::int64_t instance_mib, std::int64_t gpu_mib);

}  // namespace gpupool::nvidia
