#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "kube/patch.h"

namespace gpupool::controllers {

// Adds to the patch of a node what makes its taint `key`:NoSchedule have this value, or go (nothing), and
// what takes off taints of this key with other effects: by index in the list that was read, so that all other
// taints stay as they are. The patch has to be refused for any other version of the node. Nothing is added if
// it is so already.
void patch_taint(kube::JsonPatch& patch, const std::vector<api::Taint>& taints, const std::string& key,
                 const std::optional<std::string>& wanted);

}  // namespace gpupool::controllers
