#pragma once

#include <optional>
#include <string>

#include "faults/fault.h"
#include "net/transport.h"

namespace gpupool::faults {

// As the API server writes errors: a Status.
net::HttpResponse server_error(int code, const std::string& reason);
// As a proxy does: no JSON.
net::HttpResponse proxy_error(int code);
// What the server answers that did nothing; nothing for other faults.
std::optional<net::HttpResponse> refused_by_server(Fault fault);
std::string status_json(int code, const std::string& reason);

}  // namespace gpupool::faults
