// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "faults/fault.h"
#include "net/transport.h"

namespace gpupool::faults {

// An error of the API server: a Status.
net::HttpResponse server_error(int code, const std::string& reason);
// An error of a proxy: no JSON.
net::HttpResponse proxy_error(int code);
// The answer of a server that did not carry out the request; nothing for other faults.
std::optional<net::HttpResponse> refused_by_server(Fault fault);
std::string status_json(int code, const std::string& reason);

}  // namespace gpupool::faults
