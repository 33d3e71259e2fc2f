#pragma once

#include <cstdint>
#include <string>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// How one GPU is cut.
struct SliceSize {
  std::int64_t count = 0;       // slices of the GPU
  std::int64_t memory_mib = 0;  // of each slice
  std::int64_t cores = 0;       // percent of the GPU, of each slice
  bool operator==(const SliceSize&) const = default;
};

// What each worker of a job asks for in a sharing pool: a number of slices, or memory and cores, or whole
// GPUs.
struct SliceNeed {
  std::int64_t count = 0;
  std::int64_t memory = 0;  // bytes
  std::int64_t cores = 0;   // percent of a GPU
  std::int64_t whole_gpus = 0;

  std::string text() const;  // "3 slices", "slices of 4Gi and 30 % cores", "2 whole GPUs"
};

// The spec must be valid (validate_job).
SliceNeed need_of(const api::GpuJobSpec& spec);

// The least number of slices of such GPUs that give a worker what it needs. More than size.count, except for
// whole GPUs: a GPU of this size cannot hold it.
std::int64_t slices_for(const SliceNeed& need, const SliceSize& size);

}  // namespace gpupool::planning
