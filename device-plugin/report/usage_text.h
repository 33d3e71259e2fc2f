// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_node.h"
#include "telemetry/telemetry.h"

namespace gpupool::report {

// The use of a node's GPUs for the columns of kubectl. Empty: no GPU tells.
struct UsageText {
  std::string utilization;  // mean of the GPUs that tell, such as "37%"
  std::string memory;       // used and all memory of the GPUs that tell, such as "12.5/40Gi"
};

// Pure.
UsageText describe_usage(const api::GpuNodeStatus& status, const telemetry::Telemetry& telemetry);

}  // namespace gpupool::report
