// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/v1alpha1/pool_queue.h"

namespace gpupool::planning {

// Thousandths of a GPU of a model with a rate of 100 percent (ModelRate).
using MilliGpus = std::int64_t;
inline constexpr MilliGpus kMilli = 1000;

// Returns what this many GPUs of the model count.
MilliGpus gpu_amount(const api::PoolQueueSpec& spec, const std::string& model, std::int64_t gpus);
// Returns what slices of one GPU of the model count, rounded up. REQUIRES: of > 0, the slices of that GPU.
MilliGpus slice_amount(const api::PoolQueueSpec& spec, const std::string& model, std::int64_t slices,
                       std::int64_t of);

// As a Kubernetes quantity: "16", "1500m".
std::string amount_text(MilliGpus amount);

}  // namespace gpupool::planning
