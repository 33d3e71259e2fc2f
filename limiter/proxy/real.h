// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/proxy/driver.h"

// Begins the definition of a wrapper: a function that proxy/wrapped.txt names.
#define GPUPOOL_WRAP extern "C" __attribute__((visibility("default")))

namespace gpupool::limiter {

// The driver's function with the type of the wrapper: real<&cuMemAlloc_v2>(Fn::cuMemAlloc_v2)(pointer, size).
// It can always be called: where the driver lacks the function it returns CUDA_ERROR_NOT_FOUND, without a
// driver CUDA_ERROR_NO_DEVICE.
template <auto Wrapper>
decltype(Wrapper) real(Fn function) {
  return reinterpret_cast<decltype(Wrapper)>(callable_function(static_cast<std::uint32_t>(function)));
}

}  // namespace gpupool::limiter
