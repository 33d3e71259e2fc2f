#pragma once

#include <string>
#include <vector>

#include "gather/host_root.h"

namespace gpupool::gather {

// Files in /etc/cdi and /var/run/cdi that describe devices of the kind nvidia.com/gpu.
std::vector<std::string> cdi_specs(const HostRoot& root);

}  // namespace gpupool::gather
