// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "api/v1alpha1/problem.h"
#include "planning/job/template_fields.h"

namespace gpupool::planning {

// The longest name of a sweep: its jobs are named <sweep>-<index>, and have names of at most 45 characters.
inline constexpr std::size_t kMaxSweepName = 40;
inline constexpr std::size_t kMaxParameters = 16;

// Checks the rules of the CRD again, because servers before 1.25 ignore them, and what the CRD cannot check:
// the number of combinations, the references in the template, and the job of the first trial, as if it were a
// GpuJob. pool, fields: as in validate_job. The message names the field.
std::optional<api::Problem> validate_sweep(const api::GpuSweep& sweep, const api::GpuPool* pool,
                                           const TemplateFields& fields);

}  // namespace gpupool::planning
