// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/node.h"
#include "planning/nodes/node_marks.h"

namespace gpupool::controllers {

// Returns a JSON patch after which the node has these marks; empty if it has them already. The server refuses
// it for any other version of the node. It changes only our entries, taints by their index.
std::string mark_patch(const api::Node& node, const planning::NodeMarks& wanted);

}  // namespace gpupool::controllers
