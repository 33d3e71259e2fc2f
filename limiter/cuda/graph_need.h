// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// What the allocation nodes of a graph, and of the graphs in it, ask for at most: the sum, as if none were
// freed before the next. Of the device of the first of them.
struct GraphNeed {
  CUdevice device;
  std::uint64_t bytes;
};

GraphNeed need_of_graph(CUgraph graph);

}  // namespace gpupool::limiter
