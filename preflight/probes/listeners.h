// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "probes/host_root.h"

namespace gpupool::probes {

// A TCP socket that waits for connections.
struct Listener {
  std::uint16_t port = 0;
  bool v6 = false;
  std::array<std::uint8_t, 16> address{};  // in network order, of v4 the first four; all zero: any
  std::uint64_t inode = 0;
};

// From /proc/net/tcp and tcp6: those of the network that this process is in. Nothing if they cannot be read,
// as where that /proc does not know this process.
std::optional<std::vector<Listener>> listeners(const HostRoot& root);

}  // namespace gpupool::probes
