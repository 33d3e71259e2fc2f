// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a worker pod mounts things in the containers of gpupool-carry. The operator mounts them there
// (operator/planning/workers/data_containers.cc); the work directory is api::kWorkDirectory.
namespace gpupool::carry {

inline constexpr char kLauncherDirectory[] = "/gpupool";         // of gpupool-launch; also for our state
inline constexpr char kSecretsDirectory[] = "/gpupool/secrets";  // one directory for each Secret
inline constexpr char kConfigMapsDirectory[] = "/gpupool/config-maps";
inline constexpr char kClaimsDirectory[] = "/gpupool/claims";

}  // namespace gpupool::carry
