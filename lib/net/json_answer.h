// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "net/http_server.h"

// Answers of a server, as JSON. Pure.
namespace gpupool::net {

ServerResponse json_answer(std::string json);
// {"error": message}
ServerResponse error_answer(int status, const std::string& message);
// The status is the API server's; 400 for the caller's mistakes, 502 if the API server did not answer.
ServerResponse error_answer(const base::Error& error);

}  // namespace gpupool::net
