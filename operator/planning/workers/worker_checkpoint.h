// SPDX-License-Identifier: Apache-2.0
// What spec.checkpoint adds to a worker pod. Pure; each does nothing without spec.checkpoint.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

inline constexpr char kCheckpointVolume[] = "gpupool-checkpoint";

// Adds the flags of gpupool-launch. command: an array. grace_seconds: the pod's grace period.
void add_checkpoint_flags(nlohmann::json& command, const api::GpuJob& job, std::int64_t grace_seconds);

// Adds the variables that command and args of the worker may use as `$(NAME)`. The launcher sets the same
// for the command, and more (launcher/worker_env.h). variables: an array.
void add_checkpoint_variables(nlohmann::json& variables, const api::GpuJob& job);

// Mounts the claim of spec.checkpoint.claimName in the worker; only the folder of the job.
//
// pod_spec: a PodSpec whose first container is the worker.
void add_checkpoint_volume(nlohmann::json& pod_spec, const api::GpuJob& job);

}  // namespace gpupool::planning
