// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpupool::limiter {

enum class OwnUse : std::uint8_t {
  kKnown,
  kNotListed,  // NVML lists others, or nobody: this process uses nothing, or NVML knows it by another number
  kUnknown,    // NVML is not to be had, or does not say it
};

// What NVML says that this process uses of a device, which it calls `uuid`: all but managed memory. Loads
// NVML at the first call, its real library. Thread-safe; takes milliseconds.
OwnUse own_use(const char* uuid, std::uint64_t& bytes);

void forget_own_use_after_fork();

}  // namespace gpupool::limiter
