// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/types.h"
#include "limiter/region/layout.h"

namespace gpupool::limiter {

// What the allocation nodes of a graph, and of the graphs in it, ask for at most, by device: the sum, as if
// none were freed before the next.
struct GraphNeed {
  struct OfDevice {
    CUdevice device;
    std::uint64_t bytes;
  };
  unsigned count;
  bool keeps;  // a launch leaves memory allocated
  OfDevice of[kMaxDevices];
};

GraphNeed need_of_graph(CUgraph graph);

// Memory that launches of a graph leave allocated, by its pointers: a graph that frees on launch needs less
// while it has it.

// `exec` was made of the graph.
void graph_became(CUgraph graph, CUgraphExec exec);
void graph_launched(CUgraphExec exec);
void graph_gone(CUgraphExec exec);
// The program freed a pointer, of a graph or not.
void graph_memory_freed(CUdeviceptr pointer);
// Bytes of the device that launches of `exec` have left.
std::uint64_t left_by_graph(CUgraphExec exec, CUdevice device);

void forget_graph_memory_after_fork();

}  // namespace gpupool::limiter
