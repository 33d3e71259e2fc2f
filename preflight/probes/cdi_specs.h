// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/host_root.h"

namespace gpupool::probes {

// Files in /etc/cdi and /var/run/cdi that describe devices of the kind nvidia.com/gpu.
std::vector<std::string> cdi_specs(const HostRoot& root);

}  // namespace gpupool::probes
