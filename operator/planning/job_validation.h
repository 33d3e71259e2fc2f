#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::planning {

// Something a person has to mend. `reason` is one of api::reason.
struct Problem {
  std::string reason;
  std::string message;
  bool operator==(const Problem&) const = default;
};

// Checks what the CRD's rules check too (servers before 1.25 ignore those) and what they cannot see: the pod
// template, and whether the pool shares its GPUs (null: there is no pool yet). The message names the field.
std::optional<Problem> validate_job(const api::GpuJob& job, const api::GpuPool* pool);

// The longest job name: children are `<job>-<n>`, and a StatefulSet's pods carry `<name>-<10 characters>` in
// a label of 63.
inline constexpr std::size_t kMaxJobName = 45;
inline constexpr std::int64_t kMaxWorkers = 1000;

}  // namespace gpupool::planning
