// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "probes/host_root.h"

namespace gpupool::probes {

// Names of what runs, as the kernel has them: 15 characters at most.
std::set<std::string> process_names(const HostRoot& root);

// The process that has this socket; empty if there is none whose files may be looked at.
std::string holder_of_socket(const HostRoot& root, std::uint64_t inode);

}  // namespace gpupool::probes
