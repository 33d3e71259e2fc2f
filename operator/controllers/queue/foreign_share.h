// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "controllers/cluster/caches.h"
#include "planning/nodes/node_gpus.h"
#include "planning/slices/shared_node.h"

namespace gpupool::controllers {

// Returns what foreign pods hold on the node. gpu_resource: the pool's. The API server's pods are the source,
// not the report of the device plugin, because they are known before a kubelet acts on them. Thread-safe.
planning::ForeignShare foreign_share(const Caches& caches, const std::string& node,
                                     const std::string& gpu_resource);

// Returns the foreign pods on the node that have slices, for planning::Occupants: the report of the device
// plugin shows on which GPU they are, but later.
std::vector<planning::Occupants::Pod> foreign_slices(const Caches& caches, const std::string& node,
                                                     const std::string& resource);

}  // namespace gpupool::controllers
