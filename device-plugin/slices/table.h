// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "settings/settings.h"

namespace gpupool::slices {

// One device of the kubelet: a vGPU slice, a whole GPU (the only slice of its GPU) or a MIG instance.
struct Slice {
  std::string id;                // at most 63 characters, the same after every restart
  std::string gpu;               // UUID of the physical GPU
  std::string visible;           // UUID for the container: the GPU's or the MIG instance's
  std::int64_t ordinal = 0;      // among the slices of its GPU
  std::int64_t memory_mib = 0;   // limit of this slice
  std::int64_t cores = 0;        // percent of the GPU's cores
  bool healthy = true;           // false also for a slice that only exists until its old user has ended
  std::string unhealthy_reason;  // for people
  bool operator==(const Slice&) const = default;
};

// The physical side of a resource's slices.
struct SlicedGpu {
  std::string uuid;
  std::int64_t index = 0;
  std::int64_t minor = 0;
  std::int64_t numa_node = -1;
  std::int64_t split_count = 1;            // slices that one container can have of this GPU
  bool limited = false;                    // its slices have limits: it is split, or scaled
  settings::Enforcement enforcement = {};  // of these limits
  bool operator==(const SlicedGpu&) const = default;
};

struct Resource {
  std::string name;  // "gpupool.dev/vgpu"
  settings::Policy policy = settings::Policy::kPack;
  std::vector<SlicedGpu> gpus;  // in order of index
  std::vector<Slice> slices;    // in order of GPU index, then ordinal
  bool operator==(const Resource&) const = default;
};

// All that this node advertises at one moment. Immutable once published (LatestTable), so threads share it
// without locks.
struct Table {
  std::vector<Resource> resources;  // in order of name
  bool operator==(const Table&) const = default;
};

}  // namespace gpupool::slices
