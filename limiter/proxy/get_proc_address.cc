// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress: how the CUDA runtime finds all functions but this one. The driver answers, with its rules
// for versions and flags; what it answers is a function that it exports, so the address says which wrapper
// takes its place.
#include <cstdint>

#include "limiter/proxy/real.h"
#include "limiter/proxy/unknown_name.h"

extern "C" {
__attribute__((visibility("default"))) int cuGetProcAddress(const char* name, void** function, int version,
                                                            std::uint64_t flags);
__attribute__((visibility("default"))) int cuGetProcAddress_v2(const char* name, void** function, int version,
                                                               std::uint64_t flags, unsigned* status);
}

namespace gpupool::limiter {

namespace {

void route_to_wrapper(int result, const char* name, void** function) {
  if (result != 0 || function == nullptr || *function == nullptr) {
    return;
  }
  if (void* const wrapper = wrapper_of(*function)) {
    *function = wrapper;
  } else if (!is_known_function(*function) && name != nullptr && unknown_name != nullptr) {
    unknown_name(name);
  }
}

// Drivers before 525 have no cuGetProcAddress_v2. A program that looks for it finds ours, so it gets the
// answer in the new form: not found is no error, and status says so.
int ask_old_driver(const char* name, void** function, int version, std::uint64_t flags, unsigned* status) {
  constexpr int kNotFound = 500;
  constexpr unsigned kSymbolFound = 0;
  constexpr unsigned kSymbolNotFound = 1;
  const int result = ::cuGetProcAddress(name, function, version, flags);
  if (status != nullptr && (result == 0 || result == kNotFound)) {
    *status = result == 0 ? kSymbolFound : kSymbolNotFound;
  }
  return result == kNotFound ? 0 : result;
}

}  // namespace

}  // namespace gpupool::limiter

int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  using namespace gpupool::limiter;
  const int result = real<&cuGetProcAddress>(Fn::cuGetProcAddress)(name, function, version, flags);
  route_to_wrapper(result, name, function);
  return result;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                        unsigned* status) {
  using namespace gpupool::limiter;
  if (driver_function(Fn::cuGetProcAddress_v2) == nullptr &&
      driver_function(Fn::cuGetProcAddress) != nullptr) {
    return ask_old_driver(name, function, version, flags, status);
  }
  const int result =
      real<&cuGetProcAddress_v2>(Fn::cuGetProcAddress_v2)(name, function, version, flags, status);
  route_to_wrapper(result, name, function);
  return result;
}
