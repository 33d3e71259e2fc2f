// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "checks/ports.h"
#include "probes/host_root.h"

namespace gpupool::probes {

// Asks each listener on these ports, for two seconds at most each. Sees the network namespace of this
// process. Empty if the listeners cannot be read.
std::vector<checks::PortFacts> ports(const HostRoot& root, const std::vector<std::uint16_t>& wanted);

}  // namespace gpupool::probes
