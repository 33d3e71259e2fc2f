// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_node.h"
#include "telemetry/telemetry.h"

// The JSON that goes to the API server.
namespace gpupool::report {

// A new GpuNode that goes with its Node.
std::string new_node_body(const std::string& node, const std::string& node_uid);
// A merge patch that makes the Node with this UID the only owner.
std::string owner_patch(const std::string& resource_version, const std::string& node,
                        const std::string& node_uid);
// A merge patch of the status subresource that makes the status exactly `status` with this telemetry, refused
// with a conflict unless the object still has this resourceVersion.
std::string status_body(const std::string& resource_version, const api::GpuNodeStatus& status,
                        const telemetry::Telemetry& telemetry);

}  // namespace gpupool::report
