// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "failure/failure.h"
#include "s3/signer.h"

namespace gpupool::carry::s3 {

struct Credentials {
  Key key;             // without an id: requests are not signed
  std::string token;   // of a session; may be empty
  std::string ca_pem;  // authorities to trust as well; may be empty
  bool anonymous() const { return key.id.empty(); }
};

// Reads a Secret that is mounted at `directory`: the keys AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, or the key `credentials` with a file as ~/.aws/credentials, whose profile `default` is
// used; and ca.crt. An empty directory name, or ca.crt alone: anonymous. kInvalid names the key that is
// missing or wrong, and never a value.
Outcome<Credentials> read_credentials(const std::string& directory);

// The same of keys and values that were read elsewhere, such as from the API server.
Outcome<Credentials> credentials_of(const std::map<std::string, std::string>& keys);

}  // namespace gpupool::carry::s3
