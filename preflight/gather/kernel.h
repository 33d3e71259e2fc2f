#pragma once

#include <string>

#include "checks/kernel.h"
#include "gather/host_root.h"

namespace gpupool::gather {

// node_name: as given; empty: the machine's host name in small letters, as a kubelet takes it.
checks::KernelFacts kernel(const HostRoot& root, const std::string& node_name);

std::string host_name(const HostRoot& root);

}  // namespace gpupool::gather
