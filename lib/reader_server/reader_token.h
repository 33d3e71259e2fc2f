// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "net/http_server.h"

namespace gpupool::readers {

// The token of the cluster that a reader sends: in X-Gpupool-Token, or else in Authorization: the API
// server's proxy of services removes the latter. Nothing if there is none. Pure.
std::optional<std::string> reader_token(const net::ServerRequest& request);

// What is answered to who sends none.
net::ServerResponse no_token_answer();

}  // namespace gpupool::readers
