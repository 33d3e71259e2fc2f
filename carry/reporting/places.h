// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a worker pod mounts things in the containers of gpupool-carry. The operator mounts them there
// (operator/planning/workers/data_containers.cc); the work directory is api::kWorkDirectory.
namespace gpupool::carry {

inline constexpr char kTerminationLog[] = "/dev/termination-log";
inline constexpr char kLauncherDirectory[] = "/gpupool";  // of gpupool-launch; also for our state
// Not in the launcher's directory, where the worker would see their names. One directory for each object.
inline constexpr char kSecretsDirectory[] = "/secrets";
inline constexpr char kConfigMapsDirectory[] = "/config-maps";
inline constexpr char kClaimsDirectory[] = "/claims";

}  // namespace gpupool::carry
