// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inventory/gpu.h"
#include "slices/table.h"

namespace gpupool::allocation {

// The answer to GetPreferredAllocation: `size` device IDs of `available` that contain all of `must_include`,
// chosen by the resource's policy; as many as there are if there are too few. Unknown IDs are left out.
// Deterministic: the order of the arguments does not matter. gpus: of this node, for their links. Pure;
// called on gRPC's threads.
//
// The exact rule, because whoever places pods has to foresee it. A GPU's "free" slices are those of it in
// `available`, its "share" is free / all its slices, and n slices are wanted:
//
//   pack: Of the GPUs with at least n free slices the one with the fewest free; of equal ones the one with
//     the lowest index. If there is none: all free slices of the GPU with the most free, then the same rule
//     for the rest of n.
//   spread: The same, but of the GPUs with at least n free slices the one with the largest share, of equal
//     ones the one with the most free.
//   distinct: One slice each of the GPUs with the largest shares. Only if there are too few GPUs, a second
//     each.
//   whole GPUs, where every GPU is one device: The policy does not matter; the GPUs nearest to each other
//     (linked_gpus.h).
//
// With slices that must be included (an init container of the pod has had them) pack and spread use up the
// GPUs of these first, and distinct avoids them. Between GPUs that are equal so far, one on a NUMA node that
// already gives a slice comes before the others, then the lower index. Of one GPU the lowest ordinals are
// taken.
std::vector<std::string> prefer(const slices::Resource& resource, const std::vector<std::string>& available,
                                const std::vector<std::string>& must_include, std::size_t size,
                                const std::vector<inventory::Gpu>& gpus);

}  // namespace gpupool::allocation
