// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "kube/patch.h"

namespace gpupool::controllers {

// Adds to `patch` the operations that set the taint `key`:NoSchedule to `wanted`, or remove it (nullopt), and
// remove taints of this key with other effects. They use indexes of the list that was read, so all other
// taints stay as they are. Adds nothing if the taints are right already. REQUIRES: the server refuses the
// patch for any other version of the node.
void patch_taint(kube::JsonPatch& patch, const std::vector<api::Taint>& taints, const std::string& key,
                 const std::optional<std::string>& wanted);

}  // namespace gpupool::controllers
