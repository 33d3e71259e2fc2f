// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/problem.h"
#include "planning/job/template_fields.h"

namespace gpupool::planning {

// Checks the rules of the CRD again, because servers before 1.25 ignore them, and what the CRD cannot check:
// the pod template, and whether the pool is a sharing pool (null: there is no pool yet). fields: what the
// server knows in a template; if empty, no field of it is unknown. The message names the field.
std::optional<api::Problem> validate_job(const api::GpuJob& job, const api::GpuPool* pool,
                                         const TemplateFields& fields = {});

// The longest job name. Children are named `<job>-<n>`, and pods of a StatefulSet have `<name>-<10
// characters>` in a label of at most 63 characters.
inline constexpr std::size_t kMaxJobName = 45;
inline constexpr std::int64_t kMaxWorkers = 1000;

}  // namespace gpupool::planning
