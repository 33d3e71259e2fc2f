// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/proxy/forwarding.h"

namespace gpupool::limiter {

// The functions of libnvidia-ml.so.1, by their exported names; generated from names/nvml.txt.
enum class NvmlFn : std::uint16_t {
#include "limiter/proxy/nvml/functions.inc"
};

using NvmlReturn = int;
using NvmlDevice = struct nvmlDevice_st*;

// NVML's function with this type. It can always be called: where NVML lacks it it returns
// NVML_ERROR_FUNCTION_NOT_FOUND, and without NVML NVML_ERROR_LIBRARY_NOT_FOUND. Thread-safe.
template <typename Function>
Function* real_nvml(NvmlFn function) {
  return reinterpret_cast<Function*>(callable_function(static_cast<std::uint32_t>(function)));
}

}  // namespace gpupool::limiter
