// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "failure/failure.h"
#include "transfer/http_message.h"

namespace gpupool::carry {

struct HttpCredentials {
  std::vector<Header> headers;  // Authorization, or none
  std::string ca_pem;           // authorities to trust as well; may be empty
};

// Reads a Secret that is mounted at `directory`: `token` (Bearer), or `username` and `password` (Basic), and
// `ca.crt`. An empty directory name: none. kInvalid, naming the key, if one is missing or wrong.
Outcome<HttpCredentials> http_credentials(const std::string& directory);

}  // namespace gpupool::carry
