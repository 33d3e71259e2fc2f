// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/session.h"
#include "nodes/chosen_nodes.h"
#include "nodes/seen_node.h"

namespace gpupool::nodes {

// The GpuNodes that were chosen, in order of name. Of those of a job, only the GPUs that its pods have.
base::Result<std::vector<SeenNode>> read_nodes(command::Session& session, const Chosen& chosen,
                                               const std::stop_token& stop);

}  // namespace gpupool::nodes
