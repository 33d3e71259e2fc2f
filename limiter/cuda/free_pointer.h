// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/graph_need.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// `call()` frees a pointer of any origin: plain, of a pool, or of a graph.
template <typename Call>
CUresult free_pointer(CUdeviceptr pointer, Call call) {
  Leaving leaving(Kept::kPointer, pointer);
  const CUresult result = call();
  if (result == kSuccess) {
    leaving.done();
    graph_memory_freed(pointer);
    if (leaving.allocation().pool != 0) {
      freed_to_pool(leaving.allocation().pool);
    }
  }
  return result;
}

}  // namespace gpupool::limiter
