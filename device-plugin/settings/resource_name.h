// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::settings {

// The name if the kubelet takes it for a device plugin's resource: Kubernetes' IsExtendedResourceName.
// The names of MIG instances are refused, because what they stand for cannot be mixed with slices.
base::Result<std::string> to_resource_name(const std::string& text);

}  // namespace gpupool::settings
