// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"

namespace gpupool::planning {

// Checks spec.source and spec.results: the rules of the CRD again, because servers before 1.25 ignore them,
// and what the CRD cannot check. Nothing if both are well or absent. The message names the field. Pure.
std::optional<api::Problem> validate_data(const api::GpuJobSpec& spec);

}  // namespace gpupool::planning
