// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "allocation/container_access.h"
#include "allocation/devices.h"
#include "allocation/grant.h"
#include "base/result.h"
#include "settings/settings.h"
#include "slices/table.h"

namespace gpupool::allocation {

// Where things lie on the node.
struct NodePaths {
  std::string limits_directory = "/var/lib/gpupool/limits";  // as the kubelet's runtime sees it
  std::string limiter_directory;  // with the limiter's libraries; empty: it is not on this node
  std::string regions_directory = "/run/gpupool/regions";
};

// The names of the limits file and of the region of an enforced container with these devices, whatever their
// order.
std::string enforced_limits_name(const std::string& resource, std::vector<std::string> ids);
std::string region_name(const std::string& resource, std::vector<std::string> ids);

// Both files, whether the settings enforce limits at present or not.
struct EnforcedFiles {
  LimitsFile limits;
  RegionFile region;
};
EnforcedFiles enforced_files(const std::string& resource, const std::vector<std::string>& ids,
                             const std::vector<Device>& devices);

// What a container gets for these device IDs: the answer to Allocate. Pure, so the same arguments always give
// the same answer; called on gRPC's threads and by the agent's.
//
// Errors, with messages for the pod's owner: kInvalidArgument for unknown, missing or duplicate IDs and for a
// set that breaks the resource's policy; kInvalid ("failed precondition") for unhealthy slices, and where
// limits are to be enforced and the limiter is not on the node.
base::Result<Grant> allocate(const slices::Resource& resource, const std::vector<std::string>& ids,
                             const settings::Settings& settings, const NodePaths& paths,
                             const ContainerAccess& access);

}  // namespace gpupool::allocation
