// SPDX-License-Identifier: Apache-2.0
// What the containers have in common that gpupool adds to worker pods. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gpupool::planning {

inline constexpr std::int64_t kOwnUser = 65532;  // the user of our images

// The variable from which flags get the name of the pod. A variable of the container has precedence over
// envFrom.
inline constexpr char kPodNameVariable[] = "GPUPOOL_POD_NAME";
nlohmann::json pod_name_variable();

// Returns object[key], which becomes an empty array if it is none.
nlohmann::json& array_at(nlohmann::json& object, const char* key);

// Returns the text so that it is the same after the kubelet has expanded $(NAME) in it.
std::string unexpanded(std::string text);

// Returns the name of the pod's volume that is this claim; empty if there is none. Only one is possible: a
// kubelet never mounts the second volume of a pod with the same claim.
std::string volume_of_claim(const nlohmann::json& pod_spec, const std::string& claim);

// Returns the worker's resources, so that quotas and limit ranges that admit the worker admit an init
// container of ours. This costs nothing: a pod counts for the larger of its init containers and its
// containers.
nlohmann::json own_resources(const nlohmann::json& worker);

// Returns a security context that meets the Pod Security profile "restricted" in every pod.
nlohmann::json own_security(const nlohmann::json& pod_spec);

}  // namespace gpupool::planning
