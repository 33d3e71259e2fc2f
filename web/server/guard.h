// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/http_server.h"

namespace gpupool::web {

// Refuses what a page of another site could make a browser send. hosts: the names in Host, without a port and
// in lower case, that are served; a name that an attacker's DNS resolves to us is none of them (DNS
// rebinding). Sec-Fetch-Site, which browsers set and pages cannot, must be absent, "none" or "same-origin".
// nullopt: the request may be answered. Pure.
std::optional<net::ServerResponse> refused(const net::ServerRequest& request,
                                           const std::vector<std::string>& hosts);

// The headers of every answer: nothing but this server's own files runs or is loaded, and nobody frames it.
std::vector<net::Header> protecting_headers();

}  // namespace gpupool::web
