// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inventory/gpu.h"

namespace gpupool::allocation {

// A whole GPU that could be chosen, or must be.
struct WholeGpu {
  std::string uuid;
  std::int64_t numa_node = -1;
  bool must = false;
};

// `count` of `candidates`, as positions in it, ascending, with all that must be: those that are nearest to
// each other. Of equally near ones those that leave the nearest together, then those on the fewest NUMA
// nodes, then the first. Tries all combinations while there are at most 20,000 of them; beyond that it adds
// one GPU at a time. Pure.
std::vector<std::size_t> linked_gpus(const std::vector<WholeGpu>& candidates, std::size_t count,
                                     const std::vector<inventory::Gpu>& gpus);

}  // namespace gpupool::allocation
