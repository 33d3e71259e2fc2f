// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_pool.h"
#include "checks/finding.h"
#include "inventory/gpu.h"

namespace gpupool::checks {

struct GpuModelFacts {
  std::optional<inventory::Inventory> inventory;  // absent: no driver answered
  std::optional<api::GpuPool>
      pool;                // with --models and --min-memory one without a name; absent: none was asked for
  std::string pool_error;  // why the pool that was asked for is not here
  std::string node_name;
};

// Judges by the operator's own rules: planning/nodes/node_marks.h and planning/nodes/node_gpus.h.
Finding judge_gpu_model(const GpuModelFacts& facts);

}  // namespace gpupool::checks
