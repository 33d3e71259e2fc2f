// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "failure/failure.h"

namespace gpupool::carry {

struct GitCredentials {
  std::string username;
  std::string password;
  std::string token;
  std::string ca_pem;  // certificates to trust instead of the system's; empty: the system's
};

// Reads the keys username, password, token and ca.crt of a mounted Secret; an empty directory name: no
// credentials. Other keys are ignored. kInvalid: no known key, a user without a password or token, or a line
// break within a value. No message contains a value.
Outcome<GitCredentials> read_git_credentials(const std::string& directory);

// Values of the header Authorization.
std::string basic_authorization(const std::string& username, const std::string& password);
std::string bearer_authorization(const std::string& token);

}  // namespace gpupool::carry
