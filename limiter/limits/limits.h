// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "limiter/region/layout.h"

namespace gpupool::limiter {

struct DeviceLimit {
  char uuid[64];        // as NVML prints it, ends with a zero; empty if the limits are from the environment
  bool limited;         // false: no limit on memory
  std::uint64_t bytes;  // if limited; never 0
  unsigned cores;       // percent of the cores; 0: no limit
};

// What a container may use. Trivial to copy and without heap.
struct Limits {
  enum class Source : std::uint8_t {
    kNone,         // neither a file nor a variable: nothing is limited
    kFile,         // the limits file
    kEnvironment,  // CUDA_DEVICE_MEMORY_LIMIT_<i>, because there is no file; a device's position is its CUDA
                   // ordinal
    kBad,          // something is there that cannot be understood: everything is refused
  };
  Source source;
  unsigned count;                                // of devices
  std::array<DeviceLimit, kMaxDevices> devices;  // in the order of the file
  unsigned wait_seconds;                         // how long to wait for memory; 0: not at all
  std::uint64_t context_bytes;                   // a context's size where it cannot be measured; 0: not told
  const char* problem;                           // if kBad: why, a static text; else nullptr

  // True if at least one device is limited, or nothing is known.
  bool limits_anything() const;
};

inline constexpr std::size_t kMaxLimitsFile = 16UL * 1024;
inline constexpr unsigned kMaxWaitSeconds = 24 * 60 * 60;
inline constexpr std::uint64_t kMaxMib = 1ULL << 40U;  // 1 EiB

// Parses the content of a limits file, which device-plugin/allocation/limits_file.h describes. Two more lines
// may follow the devices: `wait SECONDS` and `context MIB`. Lines with other first words are skipped.
// Anything else is kBad. Pure.
Limits parse_limits(std::string_view content);

// Reads CUDA_DEVICE_MEMORY_LIMIT_<i> of an environment (as environ: ends with nullptr): bytes, or a number
// with k, m, or g (binary; capitals too). Missing positions below the highest are without limit. Pure.
Limits parse_environment(const char* const* environment);

// The file's limits if it exists, else the environment's. A file that is there and cannot be read is kBad.
// Thread-safe as long as nobody changes the environment meanwhile.
Limits load_limits(const char* path, const char* const* environment);

// The position of a device by its UUID ("GPU-..." or "MIG-..."); limits.count if it is not there.
unsigned find_device(const Limits& limits, std::string_view uuid);

}  // namespace gpupool::limiter
