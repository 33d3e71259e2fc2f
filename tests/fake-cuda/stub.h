// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake-cuda/types.h"

namespace gpupool::fake_cuda {

// What a function answers that the fake does not have: a failure that is to be injected, or kNotSupported.
Result stub_result(const char* name);

}  // namespace gpupool::fake_cuda

// Arguments stay where the caller put them.
#define CUDA_STUB(name)                                                        \
  __attribute__((visibility("default"))) ::gpupool::fake_cuda::Result name() { \
    return ::gpupool::fake_cuda::stub_result(#name);                           \
  }
