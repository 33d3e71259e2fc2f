// SPDX-License-Identifier: Apache-2.0
// nvmlErrorString: the one function that returns a text, and that programs call when there is no NVML.
#include "limiter/nvml/real_nvml.h"

namespace gpupool::limiter {

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(NvmlReturn result) {
  constexpr NvmlReturn kLibraryNotFound = 12;
  if (real_function(static_cast<std::uint32_t>(NvmlFn::nvmlErrorString)) != nullptr) {
    return real_nvml<const char*(NvmlReturn)>(NvmlFn::nvmlErrorString)(result);
  }
  return result == kLibraryNotFound ? "NVML Shared Library Not Found" : "Unknown Error";
}

}  // namespace gpupool::limiter
