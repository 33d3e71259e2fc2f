// SPDX-License-Identifier: Apache-2.0
// How a worker gets to the keeper (docs/logs.md), if there is one. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// Where workers send what they print, and what their tokens are made of.
struct KeeperAccess {
  std::string address;  // IP:PORT, an IPv6 address in brackets
  std::string key_id;
  std::string key;
  bool operator==(const KeeperAccess&) const = default;
};

// Adds the flags of gpupool-launch. command: an array. REQUIRES: the job has a lease.
void add_keeper_flags(nlohmann::json& command, const api::GpuJob& job, const KeeperAccess& keeper);
// Adds the token, as a variable: arguments are seen by everybody on the node. variables: an array of EnvVar.
void add_keeper_variable(nlohmann::json& variables, const api::GpuJob& job, const KeeperAccess& keeper);

}  // namespace gpupool::planning
