// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "nodes/seen_node.h"
#include "screen/terminal.h"

namespace gpupool::nodes {

// The GPUs of these nodes as lines of text: a summary, then a line for each GPU with its slices, readings and
// pods. Pure. title: what was chosen; empty: all nodes.
std::string picture(const std::string& title, const std::vector<SeenNode>& nodes, base::WallTime now,
                    const screen::Terminal& terminal);

// The same for programs, as JSON.
std::string picture_json(const std::vector<SeenNode>& nodes);

}  // namespace gpupool::nodes
