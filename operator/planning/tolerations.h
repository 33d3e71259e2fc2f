#pragma once

#include <vector>

#include "api/core/node.h"
#include "api/core/pod_template.h"
#include "base/json.h"

namespace gpupool::planning {

using Tolerations = std::vector<api::TemplateToleration>;

// Of a pod template; nothing if it cannot be read.
Tolerations tolerations_of(const base::json::RawJson& pod_template);

// True if a pod with them could be scheduled in spite of all of these taints (as corev1 Toleration matches).
bool tolerates(const Tolerations& tolerations, const std::vector<api::Taint>& taints);

}  // namespace gpupool::planning
