#pragma once

#include <string>

#include "api/core/node.h"
#include "planning/node_marks.h"

namespace gpupool::controllers {

// A JSON patch that makes the node carry these marks: only on this version of the node, and only entries of
// ours, by index. Empty if it does already.
std::string mark_patch(const api::Node& node, const planning::NodeMarks& wanted);

}  // namespace gpupool::controllers
