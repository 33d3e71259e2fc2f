// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "allocation/container_access.h"
#include "allocation/grant.h"
#include "base/result.h"
#include "settings/settings.h"
#include "slices/table.h"

namespace gpupool::allocation {

// Where things lie on the node.
struct NodePaths {
  std::string limits_directory = "/var/lib/gpupool/limits";  // as the kubelet's runtime sees it
  std::string limiter_library;  // host path of libgpupool-vgpu.so; empty: not installed
};

// What a container gets for these device IDs: the answer to Allocate. Pure, so the same arguments always give
// the same answer; called on gRPC's threads and by the agent's.
//
// Errors, with messages for the pod's owner: kInvalidArgument for unknown, missing or duplicate IDs and for a
// set that breaks the resource's policy; kInvalid ("failed precondition") for unhealthy slices.
base::Result<Grant> allocate(const slices::Resource& resource, const std::vector<std::string>& ids,
                             const settings::Settings& settings, const NodePaths& paths,
                             const ContainerAccess& access);

}  // namespace gpupool::allocation
