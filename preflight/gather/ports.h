#pragma once

#include <cstdint>
#include <vector>

#include "checks/ports.h"
#include "gather/host_root.h"

namespace gpupool::gather {

// Asks whoever listens, two seconds each at most. Sees the network that this process is in; empty if it
// cannot.
std::vector<checks::PortFacts> ports(const HostRoot& root, const std::vector<std::uint16_t>& wanted);

}  // namespace gpupool::gather
