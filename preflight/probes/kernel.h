// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "checks/kernel.h"
#include "probes/host_root.h"

namespace gpupool::probes {

// node_name: as given; empty: the machine's host name in small letters, as a kubelet takes it.
checks::KernelFacts kernel(const HostRoot& root, const std::string& node_name);

std::string host_name(const HostRoot& root);

}  // namespace gpupool::probes
