// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/core/pod_template.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"

namespace gpupool::planning {

// Checks spec.checkpoint: the rules of the CRD again, because servers before 1.25 ignore them, and that the
// template leaves room for the volume of claimName. pod: the template of the job. Nothing if it is well or
// absent. The message names the field. Pure.
std::optional<api::Problem> validate_checkpoint(const api::GpuJobSpec& spec, const api::PodTemplate& pod);

}  // namespace gpupool::planning
