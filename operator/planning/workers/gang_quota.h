// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/core/foreign_pod.h"
#include "api/core/resource_quota.h"

namespace gpupool::planning {

// Returns which ResourceQuota of the namespace does not admit all workers of a gang, in the words of the API
// server; empty if each does. worker: a pod as the server would store it (the answer to a dry run), because
// LimitRanges and RuntimeClasses add to it. Looks at quotas of pods, CPU, memory, storage and extended
// resources; a quota with scopes is left to the server. Pure. Source: pkg/quota/v1/evaluator/core/pods.go.
std::string exceeded_quota(const std::vector<api::ResourceQuota>& quotas, const api::ForeignPod& worker,
                           std::int64_t workers);

}  // namespace gpupool::planning
