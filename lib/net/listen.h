// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gpupool::net {

// A TCP socket that listens and does not block. bind: "HOST:PORT", or ":PORT" for all addresses; port 0
// selects a free one. kInvalidArgument, kIo.
base::Result<base::UniqueFd> listen_on(const std::string& bind);

// The port of a socket that listens; 0 if it has none.
int port_of(const base::UniqueFd& socket);

}  // namespace gpupool::net
