// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

// Where the device plugin puts things in a container. No environment variable changes them. Test builds of
// the library give other paths as compile definitions.
#ifdef GPUPOOL_TEST_LIMITS_PATH
inline constexpr const char* kLimitsPath = GPUPOOL_TEST_LIMITS_PATH;
#else
inline constexpr const char* kLimitsPath = "/etc/gpupool/limits";
#endif
#ifdef GPUPOOL_TEST_REGION_PATH
inline constexpr const char* kRegionPath = GPUPOOL_TEST_REGION_PATH;
#else
inline constexpr const char* kRegionPath = "/run/gpupool/region";
#endif

}  // namespace gpupool::limiter
