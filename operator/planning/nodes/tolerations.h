// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/core/node.h"
#include "api/core/pod_template.h"

namespace gpupool::planning {

using Tolerations = std::vector<api::TemplateToleration>;

// True if the tolerations match all these taints (semantics of corev1.Toleration).
bool tolerates(const Tolerations& tolerations, const std::vector<api::Taint>& taints);

}  // namespace gpupool::planning
