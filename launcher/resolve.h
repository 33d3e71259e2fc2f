// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "launcher/expected.h"

namespace gpupool::launcher {

// An IPv4 or IPv6 address with a port, ready for connect().
struct Address {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

// The addresses of `host`: a number, "localhost", or a name asked of the servers in /etc/resolv.conf with its
// search domains (A, and AAAA when there is no A). Never loads NSS modules: the image may hold ones of
// another libc. Blocks for seconds when no server answers. Thread safe. The error says why there are none;
// all of them may pass.
Expected<std::vector<Address>> resolve(const std::string& host, int port);

}  // namespace gpupool::launcher
