// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/node.h"
#include "base/clock.h"

namespace gpupool::planning {

// A person wants a node to be left by its jobs (api::kDrain).
struct NodeDrain {
  // Until then a job may wait for another node; absent: for ever. In whole seconds, as statuses have it.
  std::optional<base::WallTime> deadline;
  std::string problem;  // what is wrong with the annotation; empty: nothing; printable ASCII
  bool operator==(const NodeDrain&) const = default;
};

// Returns nothing if the node has no such annotation. A value that is no time is a drain without a deadline,
// because jobs that stay too long do less harm than jobs that leave too early. Pure.
std::optional<NodeDrain> drain_of(const api::Node& node);

}  // namespace gpupool::planning
