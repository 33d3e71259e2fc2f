// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "planning/nodes/resources.h"

namespace gpupool::planning {

// How one GPU is cut.
struct SliceSize {
  std::int64_t count = 0;       // slices of the GPU
  std::int64_t memory_mib = 0;  // of each slice
  std::int64_t cores = 0;       // percent of the GPU, of each slice
  bool operator==(const SliceSize&) const = default;
};

// What each worker of a job requests in a sharing pool: a number of slices, or memory and cores, or whole
// GPUs, as slices or as such.
struct SliceNeed {
  std::int64_t count = 0;
  std::int64_t memory = 0;  // bytes
  std::int64_t cores = 0;   // percent of a GPU
  std::int64_t whole_gpus = 0;
  std::int64_t single_gpus = 0;  // where the unit is a GPU
  Resources requests = {};       // besides the slices

  std::string text() const;  // for people: "3 slices", "slices of 4Gi and 30 % cores", "2 whole GPUs"
};

// Without `requests`. unit_is_gpu: GpuPoolSpec::rents_gpus(). REQUIRES: the spec is valid (validate_job).
SliceNeed need_of(const api::GpuJobSpec& spec, bool unit_is_gpu);

// Returns the smallest number of slices of such GPUs that meets the need. If it is over size.count, and the
// need is not whole GPUs, a GPU of this size has no room for the worker.
std::int64_t slices_for(const SliceNeed& need, const SliceSize& size);

}  // namespace gpupool::planning
